import { createEventContext, type Actor } from '#api/access';
import type { SignedLinks } from '#storage/blob-store';
import { PLAN_DOCUMENTS, type PlanDocumentKind } from '../run-files/run.files.js';
import type { LinkRecipient } from '../runs/run-logs.links.js';

/** Clients follow the redirect at once. */
const LIFETIME_MS = 60 * 1000;

/** Signed URLs of documents of plans. */
export class PlanDocumentLinks {
  constructor(
    private readonly publicUrl: string,
    private readonly links: SignedLinks,
  ) {}

  urlOf(run: string, kind: PlanDocumentKind, actor: Actor): string {
    const { id, type } = createEventContext(actor).accessor;
    return `${this.publicUrl}/api/v2/plan-documents/${this.links.sign(`${run} ${kind} ${id} ${type}`, LIFETIME_MS)}`;
  }

  /** Throws forbidden if the token is forged or has expired. */
  targetOf(token: string): {
    readonly run: string;
    readonly kind: PlanDocumentKind;
    readonly recipient: LinkRecipient;
  } {
    const [run = '', name, id = '', type = ''] = this.links.subjectOf(token).split(' ');
    const kind = PLAN_DOCUMENTS.find((one) => one === name) ?? 'json-output-redacted';
    return { run, kind, recipient: { id, type } };
  }
}
