// Examples fill the form and ask at once.
const form = document.getElementById('study');
for (const example of document.querySelectorAll('.examples button')) {
  example.addEventListener('click', () => {
    for (const name of ['model', 'cluster', 'batch']) {
      form.elements[name].value = example.dataset[name];
    }
    form.requestSubmit();
  });
}
