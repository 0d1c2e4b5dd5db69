# A token, made up, goes to a server on this machine: as a word, as tools do it, and in what is sent, by a pipe, a file and a text.
ip link set lo up
cat >server.py <<'PY'
import http.server
class Sink(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()
    do_PUT = do_POST
    def log_message(self, *words):
        pass
http.server.HTTPServer(("127.0.0.1", 8000), Sink).serve_forever()
PY
/usr/bin/python3 server.py &
until (: </dev/tcp/127.0.0.1/8000) 2>/dev/null; do sleep 0.2; done
half=0123456789abcdefXY
token=ghp_$half$(rev <<<"$half")
echo nothing to hide >readme
echo "deploy = $token" >settings
curl -s -T readme http://127.0.0.1:8000/open
curl -s -H "Authorization: Bearer $token" --data-binary @readme http://127.0.0.1:8000/words
sed s/deploy/stolen/ settings | curl -s --data-binary @- http://127.0.0.1:8000/pipe
curl -s -T settings http://127.0.0.1:8000/file
curl -s --data-binary @- http://127.0.0.1:8000/text <<TEXT
it is $token
TEXT
grep -c ghp_ settings
kill $!
wait
