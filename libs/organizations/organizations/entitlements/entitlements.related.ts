import type { Sql } from '#platform/kernel';
import { defineRelated, type RelatedResources } from '#api/json-api';
import { renderEntitlementSet } from './entitlement-sets.document.js';
import { selectEntitlementSets, type EntitlementSetRow } from './entitlements.queries.js';

/** Returns the entitlements of these organizations, for `included`. Callers that list an organization may read them. */
export const selectRelatedEntitlementSets = (ids: Sql): RelatedResources =>
  defineRelated<EntitlementSetRow>(selectEntitlementSets(ids), (rows) => rows.map(renderEntitlementSet));
