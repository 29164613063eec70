import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EventStore } from '#event-store';
import { ACTOR_TYPE, type Actor } from '#access';
import type { Fact } from './fact.js';
import { organizationForFacts } from './facts.queries.js';
import { inParts } from './facts.parts.js';
import { record, type Outcome } from './facts.recorder.js';

/** Records what is not known yet; resolves to what became of each. */
export class ReportFacts extends Command<readonly Outcome[]> {
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
  constructor(private readonly store: EventStore) {}

  async execute({ organization: name, facts, actor }: ReportFacts): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const part of inParts(facts.map((fact) => ({ organization: name, fact })))) {
      outcomes.push(...(await this.recorded(name, part, actor)));
    }
    return outcomes;
  }

  private recorded(name: string, part: readonly { readonly fact: Fact }[], actor: Actor): Promise<readonly Outcome[]> {
    return this.store.untilFirst(async () => {
      const organization = await organizationForFacts(this.store.database, actor, name);
      const reports = part.map(({ fact }) => ({ organization, fact }));
      return record(this.store, reports, { type: ACTOR_TYPE[actor.kind], id: actor.id });
    });
  }
}
