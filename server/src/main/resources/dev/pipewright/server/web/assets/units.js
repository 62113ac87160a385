// Amounts in words, as the command line writes them.
function scaled(value, step, prefixes, unit) {
  let power = 0;
  while (Math.abs(value) >= step && power < prefixes.length - 1) {
    value /= step;
    power++;
  }
  return `${value.toPrecision(value >= 100 ? Math.max(3, Math.trunc(value).toString().length) : 3)} ${prefixes[power]}${unit}`;
}
export const bytes = value => scaled(value, 1024, ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'], 'B');
export function seconds(value) {
  if (value === 0) return '0';
  if (value >= 1) return `${value.toPrecision(3)} s`;
  return value >= 1e-3 ? `${(value * 1e3).toPrecision(3)} ms` : `${(value * 1e6).toPrecision(3)} µs`;
}
