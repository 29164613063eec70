import type { OwnToken, OwnTokenAccess } from '../../api/own-tokens.js';

export const ACCESS_CHOICES: readonly { readonly value: OwnTokenAccess; readonly label: string }[] = [
  { value: 'full', label: 'Everything that you may do' },
  { value: 'read-only', label: 'Read only: it reads what you may read, and changes nothing' },
  { value: 'audit-only', label: 'Audit trails only: it reads the audit trails that you may read' },
];

export const SHORT_ACCESS: Readonly<Record<OwnTokenAccess, string>> = {
  full: 'Everything',
  'read-only': 'Read only',
  'audit-only': 'Audit trails only',
};

export const nameOwnToken = ({ attributes }: OwnToken): string =>
  attributes.description || 'the token without a description';
