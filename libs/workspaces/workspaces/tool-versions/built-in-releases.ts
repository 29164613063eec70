/**
 * Final releases of both tools up to October 2026, from their change logs: the last patch of each series, because all
 * patches from 0 on exist. Operators add later ones by CADASTRE_TOOL_RELEASES.
 */
type Series = Readonly<Record<string, number>>;

const TERRAFORM_SERIES: Series = {
  '0.10': 8,
  '0.11': 15,
  '0.12': 31,
  '0.13': 7,
  '0.14': 11,
  '0.15': 5,
  '1.0': 11,
  '1.1': 9,
  '1.2': 9,
  '1.3': 10,
  '1.4': 7,
  '1.5': 7,
  '1.6': 6,
  '1.7': 5,
  '1.8': 5,
  '1.9': 8,
  '1.10': 5,
  '1.11': 4,
  '1.12': 2,
  '1.13': 5,
  '1.14': 9,
  '1.15': 9,
  '1.16': 5,
};

const OPENTOFU_SERIES: Series = {
  '1.6': 3,
  '1.7': 7,
  '1.8': 11,
  '1.9': 4,
  '1.10': 10,
  '1.11': 14,
  '1.12': 6,
  '1.13': 1,
};

const listReleases = (series: Series): readonly string[] =>
  Object.entries(series).flatMap(([minor, last]) =>
    Array.from({ length: last + 1 }, (_, patch) => `${minor}.${patch}`),
  );

export const TERRAFORM_RELEASES = listReleases(TERRAFORM_SERIES);
export const OPENTOFU_RELEASES = listReleases(OPENTOFU_SERIES);

/** Previews of future releases, selected by their exact names only. */
export const PREVIEWS = ['1.17.0-alpha20260729', '1.17.0-alpha20260827', '1.17.0-beta1', '1.17.0-beta2'] as const;
