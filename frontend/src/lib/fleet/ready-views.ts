// Questions that every lake asks, as addresses. The filters of their pages answer them.

export const READY_VIEWS = [
  {
    name: 'Tables with more than 20 % more files within 5 minutes',
    href: '/?grew=0.2&within=5m&sort=growth',
  },
  {
    name: 'Tables whose scans take more than 1 s to plan',
    href: '/?planning=1&cols=planning,files,manifests&sort=planning_p95',
  },
  {
    name: 'Tables where most scans miss the partition filter',
    href: '/?missed=0.5&cols=missed,planning,files,bytes&sort=missed_share',
  },
  { name: 'Tables whose null share jumped', href: '/?code=null_share_jump' },
  { name: 'Commits that added 10,000 files or more', href: '/commits?min=10000&sort=files' },
] as const;
