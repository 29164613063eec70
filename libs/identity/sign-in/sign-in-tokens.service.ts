import type { z } from 'zod';
import { SignedLinks } from '#storage/blob-store';
import type { EncryptionKeys } from '#platform/encryption';
import { Refusal, type Clock } from '#platform/kernel';

const KINDS = [
  'passkey',
  'totp',
  'second-factor',
  'device',
  'oidc',
  'saml-session',
  'identity-link',
  'git-host',
] as const;
type SignInTokenKind = (typeof KINDS)[number];

/**
 * Signs what pages and cookies carry between two requests, so that requests without a session store nothing. A token of
 * one kind is invalid as another kind.
 */
export class SignInTokens {
  private readonly links: ReadonlyMap<SignInTokenKind, SignedLinks>;

  constructor(
    keys: EncryptionKeys,
    readonly clock: Clock,
  ) {
    this.links = new Map(KINDS.map((kind) => [kind, new SignedLinks(keys, `sign in: ${kind}`, clock)]));
  }

  sign(kind: SignInTokenKind, content: object, lifeMs: number): string {
    return this.linksOf(kind).sign(JSON.stringify(content), lifeMs);
  }

  /** Returns the content of a token; null if the token is absent, invalid or expired. */
  read<T>(kind: SignInTokenKind, token: string | undefined, schema: z.ZodType<T>): T | null {
    if (token === undefined) return null;
    try {
      return schema.parse(JSON.parse(this.linksOf(kind).subjectOf(token)));
    } catch (error) {
      if (error instanceof Refusal) return null;
      throw error;
    }
  }

  private linksOf(kind: SignInTokenKind): SignedLinks {
    return this.links.get(kind) as SignedLinks;
  }
}
