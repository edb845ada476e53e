. "$(dirname "$0")/check.sh"

# Rows of one source, and which simulator they are of left out.
rows_of() {
  grep ",$1," "$scratch/answers.csv" | sed "s/,$1,/,NAME,/"
}

# A built-in simulator behind the line protocol answers as it does inside.
expect_exit 0 score --source vtrain --simulator calculon --csv "$scratch/answers.csv" \
  --simulator-command "served='$program' serve --simulator calculon"
expect_out "served"
expect_err "served: started 1 time ("
expect_err "questions, "
expect_err " ms each, 0 crashes, 0 time-outs"
rows_of calculon >"$scratch/inside"
rows_of served >"$scratch/served"
[ -s "$scratch/inside" ] || fail "calculon has no rows"
cmp -s "$scratch/inside" "$scratch/served" || fail "a served simulator answers differently"

# With several processes too; their number of starts depends on the machine.
expect_exit 0 score --source vtrain --csv "$scratch/answers.csv" --processes 3 \
  --simulator-command "served='$program' serve --simulator calculon"
rows_of served >"$scratch/served"
cmp -s "$scratch/inside" "$scratch/served" || fail "three processes answer differently"

# A program in a folder with a blank, with arguments that hold one. It counts
# its questions and does on every tenth what it is told.
mkdir "$scratch/a folder"
cat >"$scratch/a folder/simulator" <<'END'
#!/bin/sh
[ "$1" = "two words" ] || exit 9
read -r greeting
echo '{"protocol": 1, "name": "shell"}'
asked=0
while read -r line; do
  asked=$((asked + 1))
  id=${line#*\"id\":}
  id=${id%%,*}
  if [ $((asked % 10)) -eq 0 ]; then
    case $2 in
      crash) echo "no more memory" >&2; exit 3 ;;
      hang) sleep 1000 ;;
      chat) echo "all is well" ;;
    esac
  fi
  echo "{\"id\":$id,\"iteration_time_s\":1}"
done
END
chmod +x "$scratch/a folder/simulator"
simulator="'$scratch/a folder/simulator' two\\ words"

expect_exit 0 score --source vtrain --simulator-command "$simulator"
expect_out "shell"
# What crashes now and then is scored all the same.
expect_exit 0 score --source vtrain --csv "$scratch/answers.csv" --restarts 1000 \
  --simulator-command "mine=$simulator crash"
expect_out "mine"
grep -q "^[^,]*,mine,failed,.*ended with exit code 3 before it answered; its stderr ends with 'no more memory'" \
  "$scratch/answers.csv" || fail "no row tells of the crash"
# Each process answers nine questions before it crashes.
answered=$(grep -c ',mine,answered,' "$scratch/answers.csv")
crashed=$(sed -n 's/^mine: .* \([0-9]*\) crashes, 0 time-outs$/\1/p' "$scratch/err")
asked=$(sed -n 's/^mine: .* \([0-9]*\) questions, .*/\1/p' "$scratch/err")
[ "$crashed" -gt 0 ] && [ "$crashed" -eq $((asked / 10)) ] ||
  fail "$asked questions, $crashed crashes"
[ "$answered" -gt 0 ] || fail "nothing was answered"
# Where it is not started again any more the scorecard ends at once.
expect_exit 0 score --source vtrain --csv "$scratch/answers.csv" --restarts 1 \
  --simulator-command "mine=$simulator crash"
expect_err "mine: started 2 times ("
expect_err "20 questions, "
expect_err "2 crashes, 0 time-outs"
expect_err "questions not asked: 1 restart used up"
# What hangs is given up.
expect_exit 0 score --source vtrain --restarts 0 --timeout 3 \
  --simulator-command "mine=$simulator hang"
expect_err "10 questions, "
expect_err "0 crashes, 1 time-out,"
expect_exit 0 score --source vtrain --restarts 0 --simulator-command "mine=$simulator chat"
expect_err "1 line that was no answer"

# What cannot be started is said before anything is asked.
expect_exit 1 score --simulator-command "mine=/no/such/program"
expect_err "cannot start '/no/such/program': No such file or directory"
expect_exit 1 score --simulator-command "'$scratch/a folder/simulator' wrong"
expect_err "ended with exit code 9"
expect_exit 1 score --simulator-command "'$program' serve --simulator calculom"
expect_err "did you mean 'calculon'?"
# No shell is run: the name of the program is taken as it stands.
expect_exit 1 score --simulator-command '$HOME'
expect_err "cannot start '\$HOME'"
expect_exit 2 score --simulator-command "mine='program"
expect_err "a single quote does not end"
expect_exit 2 score --simulator-command "mine="
expect_err "the command is empty"
expect_exit 2 score --timeout 0
expect_exit 2 score --restarts -1
expect_exit 2 score --processes 0

# The answering end, spoken to by hand.
echo '{"protocol": 1}' >"$scratch/hello"
"$program" serve --simulator staged <"$scratch/hello" >"$scratch/out" 2>"$scratch/err" ||
  fail "serve: exit code $?"
[ "$(cat "$scratch/out")" = '{"protocol":1,"name":"staged"}' ] || fail "serve: another greeting"
echo '{"protocol": 2}' >"$scratch/hello"
"$program" serve --simulator staged <"$scratch/hello" >"$scratch/out" 2>"$scratch/err" &&
  fail "serve: another version was greeted"
expect_err "protocol 2; this library speaks protocol 1"
expect_exit 2 serve
expect_exit 2 serve --simulator calculom
expect_err "did you mean 'calculon'?"
finish
