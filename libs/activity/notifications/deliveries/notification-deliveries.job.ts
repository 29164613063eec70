import type { EncryptionKeys } from '#platform/encryption';
import type { Clock } from '#platform/kernel';
import { computeRetryPause, type Mailer, type OutboundFetch } from '#platform/outbound';
import { castRows, RequestRound, type Database, type JobRun, type ScheduledJob } from '#platform/postgres';
import { Vault } from '#storage/vault';
import type { Destination } from '../configurations/destinations.js';
import { NotificationSecrets } from '../configurations/notification-secrets.service.js';
import {
  claimDueDeliveries,
  countDue,
  storeResult,
  type DeliveryLimits,
  type DeliveryResult,
  type DueCounts,
  type DueDelivery,
  type RunningDelivery,
} from './due-deliveries.queries.js';
import { MailNotificationSender } from './mail-notification.sender.js';
import { describeNotice, type Notice } from './notices.js';
import { NotificationSender, type DeliveryResponse } from './notification.sender.js';
import { countAttempt, reportDue, type AttemptResult } from './notification-deliveries.metrics.js';

const EVERY_MS = 1_000;
/** While requests run, new deliveries are taken after this time. */
const POLL_MS = 1_000;
/** Longer than the time limit of a request. A delivery whose process was killed is sent again after this time. */
const LEASE_MS = 30_000;

const DELIVERY_LIMITS: DeliveryLimits = { total: 64, perOrganization: 8, perHost: 4 };

export type NotificationDeliveriesDependencies = {
  readonly database: Database;
  readonly clock: Clock;
  readonly encryptionKeys: EncryptionKeys;
  /** The address in links to runs. */
  readonly publicUrl: string;
  readonly fetch: OutboundFetch;
  /** Null without a mail server. */
  readonly mailer: Mailer | null;
  /** Returns a number from 0 to below 1. */
  readonly random: () => number;
  readonly limits?: DeliveryLimits;
};

/** Sends due notifications. It ends a round when no request runs and nothing is due. */
export const createNotificationDeliveriesJob = (dependencies: NotificationDeliveriesDependencies): ScheduledJob => ({
  name: 'notification_deliveries',
  everyMs: EVERY_MS,
  run: (round) => new DeliveryRound(dependencies, round).run(),
});

type NextStep = Pick<DeliveryResult, 'status' | 'nextAttemptAt'> & { readonly result: AttemptResult };

const SKIPPED: NextStep = { result: 'skipped', status: 'failed', nextAttemptAt: null };
const FAILED: NextStep = { result: 'failed', status: 'failed', nextAttemptAt: null };

const DISABLED = 'The configuration was disabled before the notification was sent';

const UNREADABLE = 'The URL could not be decrypted: the encryption key is another one, or the secret is damaged';

class DeliveryRound {
  private readonly secrets: NotificationSecrets;
  private readonly sender: NotificationSender;
  private readonly mailSender: MailNotificationSender;
  private readonly limits: DeliveryLimits;

  constructor(
    private readonly dependencies: NotificationDeliveriesDependencies,
    private readonly round: JobRun,
  ) {
    const { database, encryptionKeys, fetch, mailer, clock, publicUrl, limits = DELIVERY_LIMITS } = dependencies;
    this.secrets = new NotificationSecrets(new Vault(database, encryptionKeys), encryptionKeys);
    this.sender = new NotificationSender(fetch, clock);
    this.mailSender = new MailNotificationSender(mailer, clock, publicUrl);
    this.limits = limits;
  }

  async run(): Promise<void> {
    const requests = new RequestRound<DueDelivery>(this.round, {
      total: this.limits.total,
      pollMs: POLL_MS,
      claim: (most, running) => this.claim(most, running),
      send: (delivery) => this.deliver(delivery),
      onPoll: () => this.report(),
      // Without a request, all that was due has been taken. After an abort, another process reports.
      onEnd: () => reportDue(0, 0),
    });
    await requests.run();
  }

  private async claim(total: number, running: readonly RunningDelivery[]): Promise<readonly DueDelivery[]> {
    const { database, clock } = this.dependencies;
    const now = clock.now();
    const retryAt = new Date(now.getTime() + LEASE_MS);
    const claim = claimDueDeliveries({ ...this.limits, total, now, retryAt, running });
    return castRows<DueDelivery>((await database.transaction([claim]))[0] ?? []);
  }

  private async deliver(delivery: DueDelivery): Promise<void> {
    const { id, type, attempts, enabled } = delivery;
    const destination = type === 'email' ? null : this.openDestination(delivery);
    if (!enabled) {
      const response = this.createRefusal(destination?.url ?? '', DISABLED);
      return this.store(id, response, { ...SKIPPED, progress: delivery.progress });
    }
    const notice = toNotice(delivery, this.dependencies.publicUrl);
    if (type === 'email') return this.deliverMail(delivery, notice);
    const response = destination
      ? await this.sender.send({ id, type, destination, notice }, this.round.signal)
      : this.createRefusal('', UNREADABLE);
    await this.store(id, response, { ...this.decideNext(attempts, response), progress: null });
  }

  private async deliverMail(
    { id, attempts, recipients, progress: before }: DueDelivery,
    notice: Notice,
  ): Promise<void> {
    const mail = { id, notice, recipients: recipients ?? [], progress: before };
    const { response, progress, isFinal, isSkipped } = await this.mailSender.send(mail, this.round.signal);
    if (isSkipped) return this.store(id, response, { ...SKIPPED, progress });
    const next = isFinal && !response.successful ? FAILED : this.decideNext(attempts, response);
    await this.store(id, response, { ...next, progress });
  }

  /** Returns null if the secret is damaged or has another key: one configuration must not stop all others. */
  private openDestination({ configuration, encryptedDestination }: DueDelivery): Destination | null {
    try {
      return this.secrets.openDestination(configuration, encryptedDestination);
    } catch {
      return null;
    }
  }

  /** Returns what the list of deliveries shows about a request that was not sent. */
  private createRefusal(url: string, body: string): DeliveryResponse {
    const sentAt = this.dependencies.clock.now().toISOString();
    return { url, body, code: '', headers: {}, sentAt, successful: false };
  }

  private decideNext(attempts: number, { successful }: DeliveryResponse): NextStep {
    if (successful) return { result: 'delivered', status: 'delivered', nextAttemptAt: null };
    const { clock, random } = this.dependencies;
    const pauseMs = computeRetryPause(attempts, random());
    if (pauseMs === null) return FAILED;
    return { result: 'retried', status: 'pending', nextAttemptAt: new Date(clock.now().getTime() + pauseMs) };
  }

  private async store(
    id: string,
    response: DeliveryResponse,
    { result, ...next }: NextStep & Pick<DeliveryResult, 'progress'>,
  ): Promise<void> {
    const encrypted = this.secrets.encryptResponse(id, response);
    const stored = { ...next, attemptedAt: response.sentAt, response: encrypted };
    await this.dependencies.database.transaction([storeResult(id, stored)]);
    countAttempt(result);
    this.round.done();
  }

  private async report(): Promise<void> {
    const { database, clock } = this.dependencies;
    const counts = await database.row<DueCounts>(countDue(clock.now()));
    reportDue(counts?.due ?? 0, counts?.oldestSeconds ?? 0);
  }
}

const toNotice = (
  { configuration, trigger, subject, organizationName, createdBy, actorName, createdAt }: DueDelivery,
  publicUrl: string,
): Notice => {
  const { workspace, run, status, destroyedFrom = null, assessment = null } = subject;
  const url = `${publicUrl}/app/${organizationName}/workspaces/${workspace.name}/runs/${run?.id ?? ''}`;
  return {
    configuration,
    trigger,
    message: describeNotice(trigger, status, destroyedFrom),
    organizationName,
    workspace,
    run: run && { id: run.id, url, message: run.message, createdAt: run.createdAt, createdBy },
    status,
    destroyedFrom,
    assessment: assessment && { ...assessment, urlOfResults: `${publicUrl}/api/v2/assessment-results` },
    at: createdAt,
    by: actorName,
  };
};
