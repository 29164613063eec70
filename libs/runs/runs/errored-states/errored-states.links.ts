import { createEventContext, type Actor } from '#api/access';
import type { SignedLinks } from '#storage/blob-store';
import type { LinkRecipient } from '../runs/run-logs.links.js';

/** Clients follow the redirect at once. */
const LIFETIME_MS = 60 * 1000;

/** Signed URLs of errored states. */
export class ErroredStateLinks {
  constructor(
    private readonly publicUrl: string,
    private readonly links: SignedLinks,
  ) {}

  urlOf(run: string, actor: Actor): string {
    const { id, type } = createEventContext(actor).accessor;
    return `${this.publicUrl}/api/v2/errored-states/${this.links.sign(`${run} ${id} ${type}`, LIFETIME_MS)}`;
  }

  /** Throws forbidden if the token is forged or has expired. */
  targetOf(token: string): { readonly run: string; readonly recipient: LinkRecipient } {
    const [run = '', id = '', type = ''] = this.links.subjectOf(token).split(' ');
    return { run, recipient: { id, type } };
  }
}
