import { asOfParameter, parameter, sortParameter } from '#api/json-api/description';
import { SORTS } from './workspace-lists.queries.js';
import { LOCK_STATES, TAG_GAPS } from './workspaces.filter.js';

const OWN_EXTENSION = 'An extension of Cadastre.';

/** Query parameters of the list of workspaces. */
export const workspaceListParameters = {
  ...asOfParameter(),
  ...sortParameter(SORTS),
  'search[name]': parameter.text('Only workspaces with this text in their name, ignoring case.'),
  'search[wildcard-name]': parameter.text('Only workspaces whose name matches. `*` stands for any text.'),
  'search[tags]': parameter.list('Only workspaces with all of these own tags.'),
  'search[exclude-tags]': parameter.list('Only workspaces with none of these own tags.'),
  'filter[tagged]': parameter.list('Only workspaces with tags of all of these keys, each with any value.'),
  'filter[tagged][0][key]': parameter.text(
    'Only workspaces to which a tag with this key applies. For several tags, use other numbers than 0.',
  ),
  'filter[tagged][0][value]': parameter.text(
    'The value of the tag with the same number. Without a key, a tag of any key.',
    { mostCharacters: 256 },
  ),
  'filter[project][id]': parameter.text('Only workspaces of this project.'),
  'filter[ssh-key][id]': parameter.text('Only workspaces that use this SSH key.'),
  'filter[changed-since]': parameter.text(
    'Only workspaces whose `latest-change-at` is this ISO 8601 timestamp or later.',
  ),
  'filter[id]': parameter.list(`${OWN_EXTENSION} Only workspaces with one of these ids.`),
  'filter[tag-gaps]': parameter.choice(
    [TAG_GAPS],
    `${OWN_EXTENSION} Only workspaces that have no value for at least one reserved tag key.`,
  ),
  'filter[locked]': parameter.choice(
    LOCK_STATES,
    `${OWN_EXTENSION} Only workspaces that are locked (\`true\`), or only those that are not (\`false\`).`,
  ),
  'filter[current-run][status]': parameter.list('Only workspaces whose current run has one of these statuses.'),
};
