import { readFileSync } from 'node:fs';
import { getErrorCode } from '#platform/kernel';

/** Returns one line if the file of a setting cannot be read or parsed. `content` describes what it must contain. */
export const findFileFault = (
  name: string,
  file: string | undefined,
  content: string,
  parse: (text: string) => unknown,
): readonly string[] => {
  if (!file) return [];
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return [`${name}: the file cannot be read (${getErrorCode(error) ?? 'unknown reason'})`];
  }
  try {
    parse(text);
    return [];
  } catch {
    return [`${name}: the file must contain ${content}`];
  }
};
