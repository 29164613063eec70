import { Injectable, Logger } from '@nestjs/common';
import { Clock, Ids, Refusal } from '#platform/kernel';
import { EventStore } from '#storage/event-store';
import { createSystemContext } from '#api/access';
import { mapGroupsToTeams, type UserGroups } from '#identity/people';
import type { IdentityProviderRow } from '../providers/identity-providers.view.js';
import { ProviderDirectory } from '../providers/provider-directory.service.js';
import { ProvisionedUsers } from './provisioned-users.port.js';
import { listManagedOwnersGroups, listOwnersGroups, selectMappedGroups, type MappedGroups } from './mapped-groups.js';
import { listStatements, storeMappedStatement, storeStatedGroups } from './stated-groups.view.js';

type GroupsOfSignIn = {
  readonly user: string;
  /** Null if the provider stated none. */
  readonly groups: readonly string[] | null;
  /** Id of the request, which correlates the events of the sign-in. */
  readonly requestId: string | null;
};

/**
 * Makes the teams of people match their groups. With several providers, the groups count that each of them stated at the
 * last sign-in with it: none of them removes a team that another one gives (ADR 58).
 */
@Injectable()
export class GroupMapping {
  private readonly logger = new Logger('IdentityProviders');

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly directory: ProviderDirectory,
    private readonly provisioned: ProvisionedUsers,
  ) {}

  /** Returns false if the user is suspended or does not exist any more. No team changes then. */
  async apply(
    { id: provider, settings }: IdentityProviderRow,
    { user, groups, requestId }: GroupsOfSignIn,
  ): Promise<boolean> {
    if (!settings.mapsGroups) return true;
    if (groups === null) {
      this.logger.warn('The identity provider stated no groups, so no team changes', { provider, user });
      return true;
    }
    const { database } = this.store;
    const mapped = selectMappedGroups(groups, settings.mappedGroups);
    const managed = listOwnersGroups(settings.mappedGroups);
    const statedAt = await storeStatedGroups(database, { user, provider, ...mapped }, managed, this.clock.now());
    const userGroups = await this.collectGroups(user, { provider, ...mapped }, managed);
    const context = createSystemContext('identity provider', requestId ?? this.ids.uuid());
    let isMapped = false;
    try {
      await mapGroupsToTeams({ store: this.store, ids: this.ids }, userGroups, context);
      isMapped = true;
      return true;
    } catch (error) {
      if (error instanceof Refusal && error.kind === 'not-found') return false;
      throw error;
    } finally {
      // The provider can be disabled while the teams change.
      const at = isMapped ? statedAt : null;
      await storeMappedStatement(database, { user, provider, ...mapped }, at, this.clock.now());
    }
  }

  /** Returns the groups of all statements that count, with this one instead of the stored one of its provider. */
  private async collectGroups(
    user: string,
    statement: MappedGroups & { readonly provider: string },
    managed: readonly string[],
  ): Promise<UserGroups> {
    const stored = await listStatements(this.store.database, user, this.clock.now());
    const mapping = (await this.directory.listEnabled()).filter((one) => one.settings.mapsGroups);
    const others = stored.filter((one) => one.provider !== statement.provider && !one.isOver);
    const statements = [statement, ...others].filter((one) => mapping.some(({ id }) => id === one.provider));
    const provisioned = await this.provisioned.listGroups(user);
    const ofOwners = {
      groups: [...statements.flatMap(({ ownersGroups }) => ownersGroups), ...provisioned],
      // An owners team of another group stays as it is, also if the provider no longer states its groups.
      managed: [...managed, ...listManagedOwnersGroups(stored)],
    };
    const all = [...new Set([...statements.flatMap((one) => one.groups), ...provisioned])];
    return { user, groups: all, managed: null, ofOwners, refusesSuspended: true };
  }
}
