import { z } from 'zod';

/** Texts of the host become parts of paths, documents and rows: they are limited, and without lone surrogates and controls. */
export const hostText = (most: number) =>
  z
    .string()
    .max(most)
    .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text));

/** More rows than the pages of all hosts have. */
const MAX_ROWS = 10_000;

/**
 * Returns the schema of a list. It stops at the first row that does not fit: a small answer can have millions of rows, whose
 * errors would stop the process for seconds.
 */
export const hostRows = <S extends z.ZodType>(row: S, most = MAX_ROWS) =>
  z.unknown().transform((rows, context): z.output<S>[] => {
    const parsed: z.output<S>[] = [];
    if (Array.isArray(rows) && rows.length <= most) {
      for (const one of rows) {
        const result = row.safeParse(one);
        if (!result.success) break;
        parsed.push(result.data);
      }
      if (parsed.length === rows.length) return parsed;
    }
    context.issues.push({ code: 'custom', message: 'must be a list of such rows', input: null });
    return z.NEVER;
  });

export const sha = z.string().regex(/^[0-9a-f]{40,64}$/);
export const webAddress = hostText(2_000).regex(/^https?:\/\//);
export const refName = hostText(1_000).min(1);
export const path = hostText(4_096);

/** Cuts a text that people have written, and removes what no database stores. */
export const shorten = (text: string, most: number): string => text.replaceAll('\0', '').slice(0, most).toWellFormed();

/** Returns the number of all rows of a list; null if the host does not count them. */
export const parseTotal = (headers: Headers, name = 'x-total-count'): number | null => {
  const text = headers.get(name) ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
};

const MAX_MESSAGE_CHARACTERS = 5_000;

export const shortenMessage = (text: string): string => shorten(text, MAX_MESSAGE_CHARACTERS);
