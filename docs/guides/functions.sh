# Functions for the commands of the README and of the guides, in Bash. Load them from the root of the repository:
#   . docs/guides/functions.sh
# If the stack uses other ports, set the same variables here as for `npm run dev`.
API=http://127.0.0.1:${MARKETPLACE_PORT:-8080}/api/v1
EHR=http://127.0.0.1:${EHR_PORT:-8081}/api
JSON='Content-Type: application/json'

# Prints the Authorization header of a demo user of the local stack: bearer riverside-admin
bearer() {
  local token
  token=$(node_modules/.bin/node dev/src/identity-provider/token.ts "$1") && echo "Authorization: Bearer $token"
}

# Sends a request with curl and prints the response. On an error response it prints the reason and what is invalid, and fails.
call() {
  local response result=0
  response=$(curl -sS --stderr - --fail-with-body "$@") || result=$?
  if [ "$result" = 0 ]; then
    if [ -n "$response" ]; then printf '%s\n' "$response"; fi
  elif [ "$result" = 22 ]; then
    # Without curl's own message about the status, because the reason says more.
    printf '%s' "${response%'curl: (22)'*}" | pick '.message ?? response.error_description ?? [
      `${response.title}. ${response.detail}`,
      ...(response.errors ?? []).filter(each => !response.detail.includes(each.detail)).map(each => `  ${each.pointer}: ${each.detail}`),
    ].join("\n")' | sed '1s/^/Refused: /' >&2
    return 1
  else
    printf '%s\n' "$response" >&2
    return 1
  fi
}

# Prints a value of the JSON on standard input, by a JavaScript expression: pick '[0].id'
pick() {
  node -e "const text = fs.readFileSync(0, 'utf8');
    if (text.trim() === '') { console.error('The response is empty. Is a variable in the URL empty?'); process.exit(1); }
    let response;
    try { response = JSON.parse(text); } catch { console.error('Not JSON: ' + text.slice(0, 200)); process.exit(1); }
    const found = response$1;
    console.log(typeof found === 'object' ? JSON.stringify(found, null, 2) : found);"
}

# Whether a response has a value: says paused .data.status "$EHR/…" -H "$ADMIN"
says() {
  local found
  found=$(call "${@:3}" | pick "$2")
  [ "$found" = "$1" ] || { echo "$3 says $found instead of $1" >&2; return 1; }
}

# Repeats a command until it succeeds, for a minute at most. Then it fails with what the last attempt printed.
wait_until() {
  local deadline=$((SECONDS + 60))
  until "$@" > /dev/null 2>&1; do
    if [ "$SECONDS" -ge "$deadline" ]; then "$@"; return; fi
    sleep 0.2
  done
}

# Whether a resource doesn't exist: is_missing "$API/apps/…"
is_missing() {
  [ "$(curl -s -o /dev/null -w '%{http_code}' "$@")" = 404 ]
}

# Whether the EHR doesn't have an app. A practice that the EHR doesn't know (404) has none.
is_removed() {
  is_missing "$@" || says false .data "$@"
}

# Cancels a practice's subscription to an app, lifts a block on it, and waits until the EHR has removed the app.
# So a guide can start over after one that wasn't finished: unsubscribe riverside-clinic northwind-scribe
unsubscribe() {
  local operator id
  operator=$(bearer operator) || return
  id=$(call "$API/subscriptions?orgAlias=$1" -H "$operator" | pick ".find(each => each.appSlug === '$2')?.id ?? ''") || return
  if [ -z "$id" ]; then return; fi
  call -X POST "$API/subscriptions/$id/cancel" -H "$operator" > /dev/null || return
  call -X POST "$API/subscriptions/$id/lift-block" -H "$operator" > /dev/null || return
  wait_until is_removed "$EHR/app-installations/$2/installed" -H "$operator" -H "X-Org-Alias: $1"
}

# Subscribes a practice to an app by its first plan, waits until the EHR has installed it, and prints the subscription's id.
subscribe() {
  local operator plan
  unsubscribe "$1" "$2" || return
  operator=$(bearer operator) || return
  plan=$(call "$API/apps/$2/pricing" | pick '[0].id') || return
  call "$API/subscriptions" -H "$operator" -H "$JSON" \
    -d "{\"appSlug\": \"$2\", \"orgAlias\": \"$1\", \"pricingPlanId\": \"$plan\"}" | pick .id || return
  wait_until says true .data "$EHR/app-installations/$2/installed" -H "$operator" -H "X-Org-Alias: $1"
}
