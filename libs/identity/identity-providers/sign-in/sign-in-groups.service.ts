import { Injectable } from '@nestjs/common';
import type { Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { GroupReference, GroupsOfUser, GroupStatements } from '#identity/scim';
import { isStatedGroup, listCountedGroups } from './stated-groups.view.js';

/** The groups that providers of OpenID Connect have stated at the last sign-ins of people. */
@Injectable()
export class SignInGroups implements GroupStatements {
  isStated(reference: GroupReference): Sql {
    return isStatedGroup(reference);
  }

  list(database: Database, user: string): Promise<GroupsOfUser> {
    return listCountedGroups(database, user);
  }
}
