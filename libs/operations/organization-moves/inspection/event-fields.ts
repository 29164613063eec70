/** Returns the texts at a path such as `createdBy.id` or `workspaces[]`. Missing members and null have none. */
export const listTexts = (data: unknown, path: string): readonly string[] =>
  path
    .split('.')
    .reduce<readonly unknown[]>((values, step) => values.flatMap((value) => readMember(value, step)), [data])
    .filter((value) => typeof value === 'string');

const readMember = (value: unknown, step: string): readonly unknown[] => {
  const name = step.replace(/\[\]$/, '');
  const member = (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  if (name === step) return [member];
  return Array.isArray(member) ? member : [];
};
