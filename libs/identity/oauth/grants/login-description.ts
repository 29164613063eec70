import type { Timestamp } from '#platform/kernel';

const PROGRAMS = [
  { pattern: /^OpenTofu\//i, name: 'tofu login' },
  { pattern: /^(?:HashiCorp )?Terraform\//i, name: 'terraform login' },
] as const;

export type Login = {
  readonly userAgent: string | null;
  readonly address: string | null;
  readonly at: Timestamp;
};

/** Returns the description of a token, such as `terraform login, 2026-11-26 12:30 UTC, 203.0.113.7`. */
export const describeLogin = ({ userAgent, address, at }: Login): string => {
  const program = PROGRAMS.find(({ pattern }) => pattern.test(userAgent ?? ''));
  const time = `${at.slice(0, 16).replace('T', ' ')} UTC`;
  return [program?.name ?? 'command-line login', time, ...(address === null ? [] : [address])].join(', ');
};
