import type { z } from 'zod';

/** An environment variable: its default and meaning for `--help` and the documentation, and how it is parsed. */
export type SettingVariable<S extends z.ZodType> = {
  readonly otherwise: string;
  readonly description: string;
  readonly schema: S;
  /** If true, messages never contain the value, and `NAME_FILE` can name a file with it (secret-files.ts). */
  readonly secret: boolean;
};

export const defineVariable = <S extends z.ZodType>(
  otherwise: string,
  description: string,
  schema: S,
): SettingVariable<S> => ({
  otherwise,
  description,
  schema,
  secret: false,
});
