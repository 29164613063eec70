import { z } from 'zod';

/** Texts of the host become parts of paths, documents and rows: they are limited, and without lone surrogates and controls. */
export const hostText = (most: number) =>
  z
    .string()
    .max(most)
    .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text));

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
