// Lists the figures that became slower or faster between two runs.
import { keyOf, loadRun, summarize } from './figures.js';
import { table } from './table.js';

/** Smaller changes do not count, even if they exceed the spread. */
const LEAST_CHANGE = 0.03;
/** With fewer rounds, the spread says nothing. */
const LEAST_ROUNDS = 3;

const judge = (before, after, better) => {
  if (before.values.length < LEAST_ROUNDS || after.values.length < LEAST_ROUNDS) return 'too few rounds';
  const [old, current] = [summarize(before.values), summarize(after.values)];
  const isDisjoint = old.max < current.min || current.max < old.min;
  if (!isDisjoint || Math.abs(current.median / old.median - 1) < LEAST_CHANGE) return 'same';
  return current.median > old.median === (better === 'higher') ? 'faster' : 'slower';
};

/** Compares the figures that both runs contain and that say something about the product. */
const compareFigures = (before, after) => {
  const earlier = new Map(before.map((figure) => [keyOf(figure), figure]));
  return after.flatMap((figure) => {
    const old = earlier.get(keyOf(figure));
    if (!old || figure.better === null) return [];
    return [{ figure, before: old, verdict: judge(old, figure, figure.better) }];
  });
};

const show = ({ median, min, max }) => `${median.toPrecision(3)} (${min.toPrecision(3)}–${max.toPrecision(3)})`;

const rowOf = ({ figure, before, verdict }) => {
  const [old, current] = [summarize(before.values), summarize(figure.values)];
  const percent = Math.round((current.median / old.median - 1) * 100);
  return [keyOf(figure), figure.unit, show(old), show(current), `${percent > 0 ? '+' : ''}${percent} %`, verdict];
};

/** Prints the comparison. Returns false if something became slower. */
export const compare = async (fileBefore, fileAfter) => {
  const [before, after] = [await loadRun(fileBefore), await loadRun(fileAfter)];
  const compared = compareFigures(before.figures, after.figures);
  if (compared.length === 0) throw new Error('the two files have no figure in common');
  const header = ['median (min–max)', 'unit', before.commit, after.commit, 'change', ''];
  process.stdout.write(`${table(header, compared.map(rowOf))}\n\n`);
  const count = (verdict) => compared.filter((each) => each.verdict === verdict).length;
  process.stdout.write(
    `${count('slower')} slower, ${count('faster')} faster, ${count('same')} the same, ${count('too few rounds')} with ` +
      `fewer than ${LEAST_ROUNDS} rounds.\nA figure counts as changed if its ranges do not overlap and its median ` +
      `differs by at least ${LEAST_CHANGE * 100} %. "slower" stands for every change to the worse.\n`,
  );
  return count('slower') === 0;
};
