import { InvalidArgumentError } from 'commander';

/** The data that `cadastre seed` adds. Numbers of workspaces, projects and entries are those of each organization. */
export type SeedOptions = {
  /** Beginning of the names of organizations and users. */
  readonly prefix: string;
  readonly organizations: number;
  /** Projects beside the default project. */
  readonly projects: number;
  readonly workspaces: number;
  /** Least number of entries of each audit trail. */
  readonly trailEntries: number;
  readonly users: number;
  /** The events get times of the past days. */
  readonly days: number;
  /** The same number gives the same names, tags and ids. */
  readonly seed: number;
  /** Concurrent transactions. */
  readonly connections: number;
};

/** Parses a whole number of an option, within limits. */
export const parseCount =
  (least: number, most: number) =>
  (text: string): number => {
    const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}, got "${text}"`);
  };

export const parsePrefix = (text: string): string => {
  if (/^[a-z][a-z0-9-]{0,23}$/.test(text)) return text;
  throw new InvalidArgumentError('must be 1 to 24 lower case letters, digits and hyphens, a letter first');
};
