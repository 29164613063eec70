import type { Actor } from '#api/access';
import type { SignedLinks } from '#storage/blob-store';
import { RecipientLinks } from '../runs/recipient.links.js';
import type { LinkRecipient } from '../runs/run-logs.links.js';

/** Clients follow the redirect at once. */
const LIFETIME_MS = 60 * 1000;

/** Signed URLs of errored states. */
export class ErroredStateLinks {
  private readonly links: RecipientLinks;

  constructor(publicUrl: string, links: SignedLinks) {
    this.links = new RecipientLinks({ publicUrl, path: '/api/v2/errored-states', links, lifetimeMs: LIFETIME_MS });
  }

  urlOf(run: string, actor: Actor): string {
    return this.links.sign([run], actor);
  }

  /** Throws forbidden if the token is forged or has expired. */
  targetOf(token: string): { readonly run: string; readonly recipient: LinkRecipient } {
    const {
      parts: [run = ''],
      recipient,
    } = this.links.verify(token);
    return { run, recipient };
  }
}
