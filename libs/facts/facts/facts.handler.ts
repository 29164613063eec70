import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock, tooManyRequests, type Sql } from '#kernel';
import { EventStore } from '#event-store';
import { ACTOR_TYPE, type Actor } from '#access';
import type { Fact } from './fact.js';
import { loadOrganizationForFacts } from './facts.queries.js';
import { loadFactCounts, buildFactCountStatements, toInterval, toCountKey, computeSecondsLeft } from './facts.limit.js';
import { splitIntoBatches } from './facts.batches.js';
import { recordFacts, type FactOutcome } from './facts.recorder.js';

/** Injects the number of facts that an organization can report in ten seconds; null for no limit. */
export const FACTS_LIMIT = Symbol('FACTS_LIMIT');

/** Records what is not known yet; resolves to what became of each. */
export class ReportFacts extends Command<readonly FactOutcome[]> {
  constructor(
    readonly organization: string,
    readonly facts: readonly Fact[],
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(ReportFacts)
export class ReportFactsHandler implements ICommandHandler<ReportFacts> {
  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
    @Inject(FACTS_LIMIT) private readonly limit: number | null,
  ) {}

  async execute({ organization: name, facts, actor }: ReportFacts): Promise<readonly FactOutcome[]> {
    const outcomes: FactOutcome[] = [];
    let left = facts.length;
    for (const part of splitIntoBatches(facts.map((fact) => ({ organization: name, fact })))) {
      outcomes.push(...(await this.recorded(name, part, left, actor)));
      left -= part.length;
    }
    return outcomes;
  }

  /** `left`: facts of the request that are not recorded yet. If they exceed the limit, none of them is recorded. */
  private recorded(
    name: string,
    part: readonly { readonly fact: Fact }[],
    left: number,
    actor: Actor,
  ): Promise<readonly FactOutcome[]> {
    return this.store.untilFirst(async () => {
      const organization = await loadOrganizationForFacts(this.store.database, actor, name);
      const also = await this.counted(organization.id, part.length, left);
      const reports = part.map(({ fact }) => ({ organization, fact }));
      return recordFacts(this.store, reports, { type: ACTOR_TYPE[actor.kind], id: actor.id }, also);
    });
  }

  private async counted(organization: string, facts: number, left: number): Promise<readonly Sql[]> {
    if (this.limit === null) return [];
    const now = this.clock.now().getTime();
    const count = { organization, interval: toInterval(now), facts };
    const before = (await loadFactCounts(this.store.database, [count])).get(toCountKey(count)) ?? 0;
    if (before + left > this.limit) {
      const detail = `An organization can report ${this.limit} facts in ten seconds (CADASTRE_FACTS_LIMIT)`;
      throw tooManyRequests(`${detail}. ${before} are counted, this request has ${left} more`, computeSecondsLeft(now));
    }
    return buildFactCountStatements([count], this.limit);
  }
}
