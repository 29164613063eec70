import type { Actor } from '#api/access';
import type { SignedLinks } from '#storage/blob-store';
import { PLAN_DOCUMENTS, type PlanDocumentKind } from '../run-files/run.files.js';
import { RecipientLinks, TASK_RECIPIENT, type LinkSigner } from '../runs/recipient.links.js';
import type { LinkRecipient } from '../runs/run-logs.links.js';

/** Clients follow the redirect at once. */
const LIFETIME_MS = 60 * 1000;

/** Signed URLs of documents of plans. */
export class PlanDocumentLinks {
  private readonly links: RecipientLinks;

  constructor(publicUrl: string, links: SignedLinks) {
    this.links = new RecipientLinks({ publicUrl, path: '/api/v2/plan-documents', links, lifetimeMs: LIFETIME_MS });
  }

  static with(publicUrl: string, sign: LinkSigner): PlanDocumentLinks {
    return new PlanDocumentLinks(publicUrl, sign('plan document'));
  }

  urlOf(run: string, kind: PlanDocumentKind, actor: Actor): string {
    return this.links.sign([run, kind], actor);
  }

  /** Returns the URL for the service of a run task, which reads the plan while it works. */
  urlForTask(run: string, result: string, lifetimeMs: number): string {
    return this.links.signFor([run, 'json-output'], { type: TASK_RECIPIENT, id: result }, lifetimeMs);
  }

  /** Throws forbidden if the token is forged or has expired. */
  targetOf(token: string): {
    readonly run: string;
    readonly kind: PlanDocumentKind;
    readonly recipient: LinkRecipient;
  } {
    const {
      parts: [run = '', name],
      recipient,
    } = this.links.verify(token);
    return { run, kind: PLAN_DOCUMENTS.find((one) => one === name) ?? 'json-output-redacted', recipient };
  }
}
