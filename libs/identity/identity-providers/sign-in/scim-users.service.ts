import { Injectable } from '@nestjs/common';
import { Database } from '#platform/postgres';
import { findUserByExternalId, listGroupKeys, SITE_SOURCE } from '#identity/scim';
import type { ProvisionedUsers, UserSource } from './provisioned-users.port.js';

/** The users that SCIM manages. */
@Injectable()
export class ScimUsers implements ProvisionedUsers {
  constructor(private readonly database: Database) {}

  findUserByExternalId(externalId: string, { provider, orNone }: UserSource): Promise<string | null> {
    return findUserByExternalId(this.database, externalId, [provider, ...(orNone ? [SITE_SOURCE] : [])]);
  }

  listGroups(user: string): Promise<readonly string[]> {
    return listGroupKeys(this.database, user);
  }
}
