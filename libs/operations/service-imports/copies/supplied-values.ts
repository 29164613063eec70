import { z } from 'zod';

const suppliedValues = z.record(z.string().max(1_000), z.string().max(1_000_000).nullable());

/**
 * Values that no API returns, such as those of sensitive variables, by the path of the resource. The operator writes them
 * into a file, in which null is a value that is missing.
 */
export class SuppliedValues {
  private readonly values: Map<string, string | null>;
  /** Whether the file lacks an entry. */
  hasChanged = false;

  /** Throws if the text is not a file of values. The error contains no value. */
  constructor(text: string | null) {
    this.values = new Map(Object.entries(text === null ? {} : parseValues(text)));
  }

  /** Returns the value at a path; null if it is missing. The file then gets an entry for it. */
  find(path: string): string | null {
    const value = this.values.get(path);
    if (value === undefined) {
      this.values.set(path, null);
      this.hasChanged = true;
    }
    return value ?? null;
  }

  format(): string {
    return `${JSON.stringify(Object.fromEntries([...this.values].toSorted(([a], [b]) => (a < b ? -1 : 1))), null, 2)}\n`;
  }
}

const parseValues = (text: string): z.infer<typeof suppliedValues> => {
  try {
    return suppliedValues.parse(JSON.parse(text));
  } catch {
    throw new Error('the file with values must be a JSON object whose members are texts or null');
  }
};
