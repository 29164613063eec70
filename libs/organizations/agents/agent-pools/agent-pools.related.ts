import type { Sql } from '#platform/kernel';
import { can } from '#api/access';
import { defineRelated, type RelatedResources } from '#api/json-api';
import { renderAgentPool } from './agent-pools.document.js';
import { selectAgentPoolsByIds, type AgentPoolReader, type AgentPoolRow } from './agent-pools.queries.js';

/** Returns the agent pools with these ids that the caller may read, for `included`. */
export const selectRelatedAgentPools = (ids: Sql, reader: AgentPoolReader): RelatedResources =>
  defineRelated<AgentPoolRow>(selectAgentPoolsByIds(ids, reader), (rows) =>
    rows.filter((row) => can(reader.actor, 'read-agent-pools', row)).map(renderAgentPool),
  );
