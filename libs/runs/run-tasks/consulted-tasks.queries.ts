import { sql, type Sql } from '#platform/kernel';
import { selectEncryptedSecret } from '#storage/vault';

/** Returns an expression for the enabled tasks of the workspace `w`, as ConsultedTask[]. */
export const SELECT_CONSULTED_TASKS: Sql = sql.raw(`(
  select coalesce(jsonb_agg(jsonb_build_object(
           'task', t.id, 'taskName', t.name, 'taskUrl', t.url, 'workspaceTask', wt.id,
           'attached', case when wt.id is not null then
             jsonb_build_object('stages', wt.stages, 'enforcementLevel', wt.enforcement_level) end,
           'global', case when t.global_enabled then
             jsonb_build_object('stages', t.global_stages, 'enforcementLevel', t.global_enforcement_level) end)
           order by t.name, t.id), '[]')
    from run_tasks t left join workspace_tasks wt on wt.task = t.id and wt.workspace = w.id
   where t.organization = w.organization and t.enabled and (wt.id is not null or t.global_enabled))`);

/** What a request to a task needs. */
export type ConsultedService = { readonly id: string; readonly url: string; readonly encryptedKey: string | null };

/** Returns an expression for the service of a task, as ConsultedService; null if the task was deleted. */
export const selectTaskService = (task: Sql): Sql => sql`(
  select jsonb_build_object('id', service.id, 'url', service.url, 'encryptedKey', ${selectEncryptedSecret(sql.raw('service.id'))})
    from run_tasks service where service.id = ${task})`;

/** Returns an expression for the host and port of the service of a task; null if the task was deleted. */
export const selectTaskHost = (task: Sql): Sql => sql`(
  select lower(substring(service.url from '^[A-Za-z]+://([^/?#]*)')) from run_tasks service where service.id = ${task})`;
