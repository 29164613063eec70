import { z } from 'zod';
import { defineVariable, type SettingVariable } from './variable.js';

export const defineSecretVariable = <S extends z.ZodType>(
  otherwise: string,
  meaning: string,
  schema: S,
): SettingVariable<S> => ({
  ...defineVariable(otherwise, meaning, schema),
  secret: true,
});

export const oneOfSchema = <const T extends readonly [string, ...string[]]>(values: T, otherwise: T[number]) =>
  z.enum(values, `must be one of ${values.join(', ')}`).default(otherwise as never);

/** Returns the schema of `on` and `off`, which become true and false. */
export const onOffSchema = (otherwise: 'on' | 'off') =>
  oneOfSchema(['on', 'off'], otherwise).transform((text) => text === 'on');

/** Returns the schema of a text that satisfies a condition. `message` describes the condition. */
export const matchingSchema = (ok: (text: string) => boolean, message: string) => z.string().refine(ok, message);

export const wholeNumberSchema = (least: number, most: number, otherwise: number) =>
  matchingSchema(
    (text) => /^\d{1,6}$/.test(text) && Number(text) >= least && Number(text) <= most,
    `must be a whole number from ${least} to ${most}`,
  )
    .transform(Number)
    .default(otherwise);

const isCount = (text: string, least: number): boolean => /^\d{1,9}$/.test(text) && Number(text) >= least;

export const defineCountVariable = (otherwise: number, meaning: string, least = 1) =>
  defineVariable(
    String(otherwise),
    meaning,
    matchingSchema((text) => isCount(text, least), `must be a whole number from ${least} to 999999999`)
      .transform(Number)
      .default(otherwise),
  );

/** Returns the schema of a whole number in a range, or `off`, which becomes null: no limit. */
export const limitSchema = (least: number, most: number, otherwise: number) =>
  matchingSchema(
    (text) => text === 'off' || (/^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most),
    `must be a whole number from ${least} to ${most}, or off`,
  )
    .transform((text) => (text === 'off' ? null : Number(text)))
    .default(otherwise);

/** Returns the schema of a comma-separated list. `what` describes the entries in messages. */
export const listSchema = (isEntry: (text: string) => boolean, what: string) =>
  z.string().transform((list, check) => {
    const entries = list.split(',').map((entry) => entry.trim());
    entries.forEach((entry, index) => {
      if (!isEntry(entry)) check.addIssue(`must be a comma-separated list of ${what}; entry ${index + 1} is invalid`);
    });
    return entries;
  });

/** Parses a URL. Returns null if the text is none. */
export const parseUrl = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null);

/** Returns whether a text is an http(s) URL without user, password, query and fragment. */
export const isEndpoint = (text: string): boolean => {
  const url = parseUrl(text);
  return (
    !!url &&
    ['http:', 'https:'].includes(url.protocol) &&
    ![url.search, url.hash, url.username, url.password].some((part) => part !== '')
  );
};

export const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
