import { isLoopback } from '../certificates/host-names.js';
import type { ProcessKind } from '../machine/inspect-machine.js';
import { toFileVariable, type EnvironmentValues } from './secret-files.js';
import type { Settings } from './settings.js';
import { secretNames, settingVariables } from './variables.js';

/** Settings of `cadastre provider`, which has no server settings. */
const CLIENT_VARIABLES = ['CADASTRE_URL', 'CADASTRE_TOKEN', 'CADASTRE_KEY_PASSPHRASE'];
const KNOWN_VARIABLES = [...Object.keys(settingVariables), ...secretNames.map(toFileVariable), ...CLIENT_VARIABLES];

/** Returns one line for each setting that is valid but probably a mistake. */
export const listSettingWarnings = (
  env: EnvironmentValues,
  settings: Settings,
  kind: ProcessKind,
): readonly string[] => [
  ...Object.keys(env)
    .filter(
      (name) => name.startsWith('CADASTRE_') && !name.startsWith('CADASTRE_TEST_') && !KNOWN_VARIABLES.includes(name),
    )
    .map((name) => `${name}: unknown setting, ignored; did you mean ${findClosest(name)}?`),
  ...listPlainHttpWarnings(settings, kind),
  ...listPlainSmtpWarnings(settings),
];

const listPlainHttpWarnings = ({ tls, host, publicUrl }: Settings, kind: ProcessKind): readonly string[] => {
  if (!['serve', 'gateway'].includes(kind) || tls.mode !== 'off' || isLoopback(host)) return [];
  // A proxy provides TLS.
  if (publicUrl.startsWith('https:')) return [];
  return [
    `CADASTRE_TLS: off, and HOST ${host} is reachable from other machines: tokens cross the network unencrypted; ` +
      'use CADASTRE_TLS=auto, or a proxy with TLS and its https:// address in CADASTRE_PUBLIC_URL',
  ];
};

const listPlainSmtpWarnings = ({ smtp }: Settings): readonly string[] =>
  smtp?.tls === 'off' && !isLoopback(smtp.host)
    ? [
        'CADASTRE_SMTP_TLS: off, and the mail server is on another machine: e-mails and the password cross the network ' +
          'unencrypted',
      ]
    : [];

const findClosest = (name: string): string =>
  KNOWN_VARIABLES.map((variable) => ({ known: variable, distance: computeEditDistance(name, variable) })).reduce(
    (best, next) => (next.distance < best.distance ? next : best),
  ).known;

/** Returns the Levenshtein distance. */
const computeEditDistance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
};
