import { sql, type Projection, type OrganizationDeleted } from '#platform/kernel';
import type { ReservedTagKeyEvent } from './reserved-tag-key.js';

export const reservedTagKeys: Projection<ReservedTagKeyEvent | OrganizationDeleted> = {
  name: 'reserved_tag_keys',
  version: 1,
  tables: ['reserved_tag_keys'],
  on: {
    ReservedTagKeyCreated: ({ key, disableOverrides }, { stream, organization, time }) => sql`
      insert into reserved_tag_keys (id, organization, key, disable_overrides, created_at, updated_at)
      values (${stream}, ${organization}, ${key}, ${disableOverrides}, ${time}, ${time})`,
    ReservedTagKeyUpdated: ({ to }, { stream, time }) => sql`
      update reserved_tag_keys
         set key = ${to.key}, disable_overrides = ${to.disableOverrides}, updated_at = ${time}
       where id = ${stream}`,
    ReservedTagKeyDeleted: (_, { stream }) => sql`delete from reserved_tag_keys where id = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from reserved_tag_keys where organization = ${stream}`,
  },
};
