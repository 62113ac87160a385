// A file that was dropped or chosen is sent at once, unless it is too large.
const form = document.getElementById('inspect');
const mistake = document.getElementById('mistake');
const chooser = form.elements.file;
const tooLarge = () => chooser.files[0]?.size > Number(form.dataset.most) - 10_000;
function refuse() {
  mistake.textContent = `${chooser.files[0].name}: has more than 20 MiB; read it with the command line`;
  mistake.hidden = false;
}
chooser.addEventListener('change', () => {
  if (tooLarge()) refuse();
  else if (chooser.files.length > 0) form.requestSubmit();
});
form.addEventListener('submit', event => {
  if (tooLarge()) {
    event.preventDefault();
    refuse();
  }
});
for (const [name, over] of [['dragenter', true], ['dragleave', false], ['drop', false]]) {
  chooser.addEventListener(name, () => form.classList.toggle('over', over));
}
