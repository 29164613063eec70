-- RunCreated has `invokeActionAddrs` and `policyPaths` from its second version on.
update views.runs
   set options = options || '{"invokeActionAddrs": [], "policyPaths": []}'
 where not options ? 'policyPaths';
