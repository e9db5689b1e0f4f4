export const usage = `Usage: npm run bench -- NAME [options]

Measures on a temporary PostgreSQL and prints the figures; fails if one misses its goal. Don't use the machine for
anything else meanwhile.

  build          what one waits for: the first assertion of a test file, and the start of a bundled service
    --figures LIST              which of its measurements (1,2)
  catalog        pages, search and CPU time of the public catalog
    --apps NUMBER               generated apps (100000)
  search         relevance of the results of search
    --queries FILE              judged queries instead of ours, as JSON
  subscriptions  creates and lists subscriptions
    --subscriptions NUMBER      stored subscriptions (1000000)
  webhooks       delivery
    --figures LIST              which of its measurements (1,2,3,4)
    --seconds NUMBER            duration of each (60)
    --held NUMBER               held deliveries (1000000)
    --log-rows NUMBER           rows of the delivery log (10000000)
  cost           CPU time, statements and latency of a change
    --scenarios LIST            changes a second, with or without the EHR (100,100-ehr,200,200-ehr,250)
    --seconds NUMBER            duration of each (20)
    --sustained-seconds NUMBER  duration of the last one (60)
    --profiles DIRECTORY        also write CPU profiles there
  ehr            the EHR service
    --figures LIST              which of its measurements (1,2,3,4)
    --seconds NUMBER            duration of each (60)
    --installations NUMBER      stored installations (1000000)
  publishing     what operators and vendors publish
    --figures LIST              which of its measurements (1,2,3,4)
    --apps NUMBER               apps in the catalog while revisions are published (100000)
    --organisations NUMBER      imported organisations, in parts of 1,000 (250000)
    --subscriptions NUMBER      subscriptions that a suspension pauses (250000)
  connections    what authorization servers ask at every token
    --figures LIST              which of its measurements (1,2)
    --installations NUMBER      stored installations, each with a client (1000000)
  usage          what vendors report of metered apps, and closing a month
    --figures LIST              which of its measurements (1,2,3)
    --records NUMBER            stored records when a month is read (10000000)
    --subscriptions NUMBER      subscriptions of the month that is closed (1000000)
  web            the storefront: CPU time, latency and sizes of its pages, and what Lighthouse says about them
    --figures LIST              which of its measurements (1,2)
    --seconds NUMBER            duration of each measurement of latency (40)
    --requests NUMBER           requests of each round of CPU time (10000)
    --lighthouse-runs NUMBER    runs of Lighthouse for each page, of which the median counts (3)
    --profiles DIRECTORY        also write a CPU profile of the web there
  --help         print this text

Examples:
  npm run bench -- catalog --apps 10000
  npm run bench -- webhooks --figures 1,3 --seconds 20`;
