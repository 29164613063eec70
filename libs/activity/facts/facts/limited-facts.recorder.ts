import { Inject, Injectable } from '@nestjs/common';
import { Clock, tooManyRequests, type Sql } from '#platform/kernel';
import { EventStore } from '#storage/event-store';
import { ACTOR_TYPE, type Actor } from '#api/access';
import type { Fact } from './fact.js';
import { loadOrganizationForFacts } from './facts.queries.js';
import { loadFactCounts, buildFactCountStatements, toInterval, toCountKey, computeSecondsLeft } from './facts.limit.js';
import { splitIntoBatches } from './facts.batches.js';
import { recordFacts, type FactOutcome } from './facts.recorder.js';

/** Injects the number of facts that an organization can report in ten seconds; null for no limit. */
export const FACTS_LIMIT = Symbol('FACTS_LIMIT');

/** Records the facts of requests up to the limit of the organization. Facts are not an aggregate. */
@Injectable()
export class LimitedFactsRecorder {
  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
    @Inject(FACTS_LIMIT) private readonly limit: number | null,
  ) {}

  /** Skips facts that the log already contains. Returns the outcome of each fact, in the same order. */
  async record(organization: string, facts: readonly Fact[], actor: Actor): Promise<readonly FactOutcome[]> {
    const outcomes: FactOutcome[] = [];
    let remaining = facts.length;
    for (const batch of splitIntoBatches(facts.map((fact) => ({ organization, fact })))) {
      outcomes.push(...(await this.recordBatch(organization, batch, remaining, actor)));
      remaining -= batch.length;
    }
    return outcomes;
  }

  /**
   * `remaining`: facts of the request that are not recorded yet. If they exceed the limit, none of them is recorded.
   */
  private recordBatch(
    name: string,
    batch: readonly { readonly fact: Fact }[],
    remaining: number,
    actor: Actor,
  ): Promise<readonly FactOutcome[]> {
    return this.store.retryOnConflict(async () => {
      const organization = await loadOrganizationForFacts(this.store.database, actor, name);
      const also = await this.checkLimit(organization.id, batch.length, remaining);
      const reports = batch.map(({ fact }) => ({ organization, fact }));
      return recordFacts(this.store, reports, { type: ACTOR_TYPE[actor.kind], id: actor.id }, also);
    });
  }

  /** Returns the statements that count the facts, or throws if the organization would exceed its limit. */
  private async checkLimit(organization: string, facts: number, remaining: number): Promise<readonly Sql[]> {
    if (this.limit === null) return [];
    const now = this.clock.now().getTime();
    const count = { organization, interval: toInterval(now), facts };
    const before = (await loadFactCounts(this.store.database, [count])).get(toCountKey(count)) ?? 0;
    if (before + remaining > this.limit) {
      const detail = `An organization can report ${this.limit} facts in ten seconds (CADASTRE_FACTS_LIMIT)`;
      throw tooManyRequests(
        `${detail}. ${before} are counted, this request has ${remaining} more`,
        computeSecondsLeft(now),
      );
    }
    return buildFactCountStatements([count], this.limit);
  }
}
