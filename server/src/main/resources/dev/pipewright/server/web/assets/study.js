// Examples fill the form and ask at once; a file that was chosen stands for the network's name.
const form = document.getElementById('study');
const mistake = document.getElementById('mistake');
const model = form.elements.model;
const chooser = form.elements.file;
for (const example of document.querySelectorAll('.examples button')) {
  example.addEventListener('click', () => {
    for (const name of ['model', 'cluster', 'batch']) {
      form.elements[name].value = example.dataset[name];
    }
    chooser.value = '';
    ask();
    form.requestSubmit();
  });
}
const ask = () => { model.required = chooser.files.length === 0; };
function check() {
  const file = chooser.files[0];
  const tooLarge = file?.size > Number(form.dataset.most);
  if (tooLarge) {
    mistake.textContent = `${file.name}: has more than 1 MiB; choose a config.json of Hugging Face`;
    mistake.hidden = false;
  }
  return !tooLarge;
}
chooser.addEventListener('change', () => {
  if (chooser.files.length > 0) {
    model.value = '';
    check();
  }
  ask();
});
model.addEventListener('input', () => {
  chooser.value = '';
  ask();
});
ask();
form.addEventListener('submit', event => {
  if (!check()) event.preventDefault();
});
