import { findMetaText, formatEventCode, isFailedSignIn, type ShownEntry } from './shown-entry.js';

const LOW = 3;
const MEDIUM = 6;

/** Returns the severity from 0 to 10. Somebody should look at refused sign-ins, and at locks that others have removed. */
const getSeverity = (entry: ShownEntry): number =>
  isFailedSignIn(entry) || formatEventCode(entry) === 'workspace.force_unlock' ? MEDIUM : LOW;

/** No reader accepts a control character in a value, and none of them has an escape, except the ends of lines. */
// oxlint-disable-next-line no-control-regex
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f\u0085\u2028\u2029]/g;

const LINE_ENDS: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\u2028': '\\n', '\u2029': '\\n' };

const escapeControls = (text: string): string =>
  text.replace(CONTROL_CHARACTERS, (character) => LINE_ENDS[character] ?? ' ');

const escapeHeader = (text: string): string => text.replace(/[\\|]/g, '\\$&').replace(CONTROL_CHARACTERS, ' ');

const escapeValue = (text: string): string => escapeControls(text.replace(/[\\=]/g, '\\$&'));

/** Returns the extension. The fields that CEF has no key for are custom strings with a label. */
const listFields = (entry: ShownEntry): readonly (readonly [key: string, value: string | null | undefined])[] => {
  const { auth, request, resource } = entry;
  return [
    ['rt', String(Date.parse(entry.timestamp))],
    ['externalId', entry.id],
    ['act', resource.action],
    ['outcome', isFailedSignIn(entry) ? 'failure' : 'success'],
    ['suid', auth.accessor_id],
    ['suser', auth.description],
    ['src', request.address],
    ['requestClientApplication', request.user_agent],
    ['duid', findMetaText(entry, 'user_id')],
    ['duser', findMetaText(entry, 'user')],
    ['reason', findMetaText(entry, 'reason')],
    ['cs1Label', 'organization'],
    ['cs1', auth.organization_id],
    ['cs2Label', 'resourceType'],
    ['cs2', resource.type],
    ['cs3Label', 'resourceId'],
    ['cs3', resource.id],
    ...(request.id === null
      ? []
      : ([
          ['cs4Label', 'requestId'],
          ['cs4', request.id],
        ] as const)),
    ...(auth.impersonator_id === null
      ? []
      : ([
          ['cs5Label', 'impersonatorId'],
          ['cs5', auth.impersonator_id],
        ] as const)),
    ['msg', resource.meta === null ? null : JSON.stringify(resource.meta)],
  ];
};

/** Returns an entry as a line of CEF (ArcSight Common Event Format, version 0), without the header of syslog. */
export const renderCef = (entry: ShownEntry, productVersion: string): string => {
  const { type, action } = entry.resource;
  const name = `${type} ${action}`.replaceAll('_', ' ');
  const header = [
    'CEF:0',
    'Cadastre',
    'Cadastre',
    productVersion,
    formatEventCode(entry),
    name,
    String(getSeverity(entry)),
  ];
  const fields = listFields(entry).flatMap(([key, value]) => (value ? [`${key}=${escapeValue(value)}`] : []));
  return `${header.map(escapeHeader).join('|')}|${fields.join(' ')}`;
};
