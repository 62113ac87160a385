// A link may bring the token after #: browsers send that to no server, and it goes from the address at once.
const token = decodeURIComponent(location.hash.slice(1));
if (token) {
  history.replaceState(null, '', location.pathname);
  const form = document.getElementById('login');
  form.elements.token.value = token;
  form.requestSubmit();
}
