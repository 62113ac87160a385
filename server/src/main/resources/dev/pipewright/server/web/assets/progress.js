// Shows how far a search is, and its answer as soon as there is one.
const status = document.getElementById('progress');
const events = new EventSource(`/study/${status.dataset.id}/events`);
events.addEventListener('progress', event => { status.textContent = event.data; });
events.addEventListener('over', () => {
  events.close();
  location.reload();
});
