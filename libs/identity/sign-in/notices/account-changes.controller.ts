import { Controller, Get, Param } from '@nestjs/common';
import { CurrentActor, type Actor } from '#api/access';
import { renderDocument, toOne, type Document, type Resource } from '#api/json-api';
import { EventStore } from '#storage/event-store';
import { describeAccountChange } from './account-changes.js';
import { listAccountChangesFor, type ListedAccountChange } from './account-notices.queries.js';

const renderAccountChange = ({ id, type, time, address }: ListedAccountChange, user: string): Resource => ({
  id,
  type: 'account-changes',
  attributes: { event: type, description: describeAccountChange({ type }), 'created-at': time, address },
  relationships: { user: toOne('users', user, `/api/v2/users/${user}`) },
});

/** The last changes of an account that its person must notice. */
@Controller('api/v2/users/:id/account-changes')
export class AccountChangesController {
  constructor(private readonly store: EventStore) {}

  @Get()
  async list(@Param('id') user: string, @CurrentActor() actor: Actor): Promise<Document> {
    const changes = await listAccountChangesFor(this.store, actor, user);
    return renderDocument(changes.map((change) => renderAccountChange(change, user)));
  }
}
