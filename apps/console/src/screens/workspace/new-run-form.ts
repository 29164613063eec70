import type { NewRunAttributes } from '../../api/runs.js';
import type { Workspace } from '../../api/workspaces.js';

/* The fields of a new run, and the request with their values. */

export type NewRunKind = 'apply' | 'plan' | 'refresh' | 'destroy';

export type EnteredVariable = { readonly key: string; readonly value: string };

/** The names of the fields are those of the API, so that a refusal finds them. */
export type NewRunValues = {
  readonly kind: NewRunKind;
  readonly message: string;
  readonly 'auto-apply': boolean;
  readonly 'save-plan': boolean;
  readonly 'allow-empty-apply': boolean;
  readonly refresh: boolean;
  /** One address a line. */
  readonly 'target-addrs': string;
  readonly 'replace-addrs': string;
  readonly 'terraform-version': string;
  readonly variables: readonly EnteredVariable[];
  /** The id of a configuration version. Empty for the current one. */
  readonly 'configuration-version': string;
};

export const listInitialValues = ({ attributes }: Workspace): NewRunValues => ({
  kind: 'apply',
  message: '',
  'auto-apply': attributes['auto-apply'] && attributes.permissions['can-queue-apply'],
  'save-plan': false,
  'allow-empty-apply': false,
  refresh: true,
  'target-addrs': '',
  'replace-addrs': '',
  'terraform-version': '',
  variables: [],
  'configuration-version': '',
});

const splitLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Options that have no effect for the kind of run are left out, even if the person entered them before. */
export const toRunAttributes = (values: NewRunValues): NewRunAttributes => {
  const { kind, message, refresh } = values;
  const isPlanOnly = kind === 'plan';
  return {
    ...(message.trim() === '' ? {} : { message: message.trim() }),
    'plan-only': isPlanOnly,
    'is-destroy': kind === 'destroy',
    'refresh-only': kind === 'refresh',
    'target-addrs': splitLines(values['target-addrs']),
    'replace-addrs': kind === 'destroy' || kind === 'refresh' ? [] : splitLines(values['replace-addrs']),
    refresh: kind === 'refresh' || refresh,
    variables: values.variables
      .filter(({ key }) => key.trim() !== '')
      .map(({ key, value }) => ({ key: key.trim(), value })),
    ...(isPlanOnly
      ? values['terraform-version'].trim() === ''
        ? {}
        : { 'terraform-version': values['terraform-version'].trim() }
      : {
          'auto-apply': values['auto-apply'],
          'save-plan': values['save-plan'],
          'allow-empty-apply': values['allow-empty-apply'],
        }),
  };
};
