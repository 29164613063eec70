/** Returns the rows as text: numbers aligned right, the first column aligned left. */
export const table = (header, rows) => {
  const cells = [header, ...rows].map((row) => row.map(String));
  const widths = header.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  const line = (row) => row.map((cell, n) => (n === 0 ? cell.padEnd(widths[n]) : cell.padStart(widths[n]))).join('  ');
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [line(cells[0]), rule, ...cells.slice(1).map(line)].join('\n');
};

export const verdict = (isWithinBudget) => (isWithinBudget ? 'ok' : 'OVER');
