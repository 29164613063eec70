import { Injectable } from '@nestjs/common';
import { Database } from '#postgres';
import { findUserByExternalId, listGroupKeys } from '#scim';
import type { ProvisionedUsers } from './provisioned-users.port.js';

/** The users that SCIM manages. */
@Injectable()
export class ScimUsers implements ProvisionedUsers {
  constructor(private readonly database: Database) {}

  findUserByExternalId(externalId: string): Promise<string | null> {
    return findUserByExternalId(this.database, externalId);
  }

  listGroups(user: string): Promise<readonly string[]> {
    return listGroupKeys(this.database, user);
  }
}
