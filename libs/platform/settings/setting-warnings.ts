import { EXECUTOR_VARIABLES } from './executor-variables.js';
import { isLoopback } from './host-names.js';
import { toFileVariable, type EnvironmentValues } from './secret-files.js';
import type { Settings } from './settings.js';
import { secretNames, settingVariables } from './variables.js';

/** The kind of program that starts. A command does not listen on any address. */
export type ProcessKind = 'serve' | 'gateway' | 'projector' | 'publisher' | 'command';

/** Settings of commands that are clients: of `cadastre provider`, and of the source in `cadastre import`. */
const CLIENT_VARIABLES = ['CADASTRE_URL', 'CADASTRE_TOKEN', 'CADASTRE_KEY_PASSPHRASE', 'CADASTRE_IMPORT_TOKEN'];
const KNOWN_VARIABLES = [
  ...Object.keys(settingVariables),
  ...secretNames.map(toFileVariable),
  ...CLIENT_VARIABLES,
  ...EXECUTOR_VARIABLES,
];

/** Returns one line for each setting that is valid but probably a mistake. */
export const listSettingWarnings = (
  env: EnvironmentValues,
  settings: Settings,
  kind: ProcessKind,
): readonly string[] => [
  ...Object.keys(env).flatMap(listUnknownSettingWarnings),
  ...listPublicUrlWarnings(settings, kind),
  ...listPlainHttpWarnings(settings, kind),
  ...listPlainSmtpWarnings(settings),
];

/** A name without the prefix is probably meant as a setting if it differs from one in at most two characters. */
const MAX_DISTANCE = 2;
/** Names such as HOST and PORT resemble names of other programs. */
const MIN_LENGTH = 8;

const listUnknownSettingWarnings = (name: string): readonly string[] => {
  if (name.startsWith('CADASTRE_TEST_') || KNOWN_VARIABLES.includes(name)) return [];
  const { setting, distance } = findClosest(name);
  const isMeant = name.startsWith('CADASTRE_') || (setting.length >= MIN_LENGTH && distance <= MAX_DISTANCE);
  return isMeant ? [`${name}: unknown setting, ignored; did you mean ${setting}?`] : [];
};

const SERVERS: readonly ProcessKind[] = ['serve', 'gateway'];

const listPublicUrlWarnings = ({ tls, publicUrl }: Settings, kind: ProcessKind): readonly string[] =>
  SERVERS.includes(kind) && tls.mode !== 'off' && publicUrl.startsWith('http:')
    ? [
        `CADASTRE_PUBLIC_URL: ${publicUrl} begins with http://, but the server uses TLS, so its links do not work; ` +
          'begin it with https://, or set CADASTRE_TLS=off',
      ]
    : [];

const listPlainHttpWarnings = ({ tls, host, publicUrl }: Settings, kind: ProcessKind): readonly string[] => {
  if (!SERVERS.includes(kind) || tls.mode !== 'off' || isLoopback(host)) return [];
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

const findClosest = (name: string): { readonly setting: string; readonly distance: number } =>
  KNOWN_VARIABLES.map((variable) => ({ setting: variable, distance: computeEditDistance(name, variable) })).reduce(
    (best, next) => (next.distance < best.distance ? next : best),
  );

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
