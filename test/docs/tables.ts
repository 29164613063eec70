const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** Renders a Markdown table. Prettier aligns its columns. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(...head), row(...head.map(() => '---')), ...rows.map((cells) => row(...cells))].join('\n');
