;;; hive-outreach-test.el --- Pings, cards, reports and notices  -*- lexical-binding: t; -*-

;; Tags: undisturbed untrusted

(require 'hive-test-help)

(require 'hive-notify)
(require 'hive-outreach)

(defun hive-outreach-test-item (kind &rest fields)
  "Return an outreach of KIND with FIELDS."
  (append fields
          (list :outreach_id (hive-test-id "out-") :kind kind :session_id "s"
                :agent "Codex-1" :source "bg" :project "demo" :status "sent" :created_at (hive-text-now)
                :message nil :title nil :description nil :color nil :fields [] :actions []
                :ask_id nil :critical :json-false :reason nil)))

(defmacro hive-outreach-test (listed &rest body)
  "Run BODY; LISTED were sent before.  `said' collects the messages."
  (declare (indent 1))
  `(hive-test-with-desk nil
     (save-window-excursion
       (unwind-protect
           (hive-test-hearing said
             (hive-test-connect)
             (hive-test-call 'fake/result (list :method "outreach/list" :result
                                                (list :outreach (vconcat ,listed) :next_cursor nil)))
             ,@body)
         (dolist (name (list hive-outreach--name hive-notify--name))
           (when (get-buffer name) (kill-buffer name)))))))

(defun hive-outreach-test-tell (method item)
  "Let the sidecar send ITEM by METHOD."
  (hive-test-call 'fake/tell (list :method method :params item)))

(defun hive-outreach-test-shown (regexp)
  "Wait until the buffer shows REGEXP."
  (hive-test-wait 5 (with-current-buffer hive-outreach--name (string-match-p regexp (buffer-string)))))

(ert-deftest hive-outreach-a-ping-is-announced-with-its-source ()
  (hive-outreach-test nil
    (hive-outreach-test-tell "outreach/received" (hive-outreach-test-item "ping" :message "100%s\u202Edone"))
    (hive-test-wait 5 said)
    (should (equal '("[bg] Codex-1 (demo): 100%s<U+202E>done") said))
    ;; Suppressed items and reports are not.
    (hive-outreach-test-tell "outreach/received" (hive-outreach-test-item "ping" :message "no" :status "suppressed"))
    (hive-outreach-test-tell "outreach/received" (hive-outreach-test-item "report" :message "no"))
    (hive-outreach-test-tell "outreach/received" (hive-outreach-test-item "card" :title "Built" :source "main"))
    (hive-test-wait 5 (cdr said))
    (should (string-match-p "\\`Codex-1 (demo) sends a card: Built" (car said)))
    (should (= 2 (length said)))))

(ert-deftest hive-outreach-a-card-says-below-where-its-sender-runs ()
  (pcase-dolist (`(,source ,name ,footer)
                 '(("main" "Codex-1" "") ("bg" "[bg] Codex-1" "  bg\n") ("fork" "[fork] Codex-1" "  fork\n")))
    (hive-outreach-test (list (hive-outreach-test-item "card" :title "Built" :description "It is green."
                                                       :source source))
      (hive-outreach)
      (hive-outreach-test-shown (concat "\\`" (regexp-quote name) " · demo · card · .*\nBuilt\n"
                                        "  It is green\\.\n" footer "\n\\'")))))

(ert-deftest hive-outreach-many-at-once-are-one-line ()
  (hive-outreach-test nil
    ;; However long it takes them to arrive.
    (let ((hive-outreach--pause 3600))
      (dotimes (n 5)
        (hive-outreach-test-tell "outreach/received" (hive-outreach-test-item "ping" :message (format "m%d" n)))))
    (hive-test-run-timers 3600)
    (should (string-match-p "\\`5 messages from agents; the latest: \\[bg] Codex-1 (demo): m4  M-x hive-outreach\\'" (car said)))
    (should-not (cdr said))
    ;; A few are shown one by one, in order.
    (dotimes (n 2)
      (hive-outreach-test-tell "outreach/received" (hive-outreach-test-item "ping" :message (format "n%d" n))))
    (hive-test-wait 5 (cddr said))
    (should (equal '("[bg] Codex-1 (demo): n1" "[bg] Codex-1 (demo): n0") (seq-take said 2)))))

(ert-deftest hive-outreach-says-what-came-while-nobody-was-here ()
  (hive-outreach-test nil
    (hive-outreach-test-tell "outreach/received"
                             (hive-outreach-test-item "ping" :message "Deployed." :status "unseen"))
    (hive-test-wait 5 said)
    (should (equal '("While you were away: [bg] Codex-1 (demo): Deployed.") said))))

(ert-deftest hive-outreach-lists-what-was-sent-and-what-arrives ()
  (hive-outreach-test (list (hive-outreach-test-item "report" :message "Long\nreport")
                            (hive-outreach-test-item "ping" :outreach_id "p" :message "Ping!" :status "suppressed"
                                                     :reason "budget"))
    (hive-outreach)
    (hive-outreach-test-shown "Long\nreport\n\n.* suppressed · budget\nPing!")
    (goto-char (hive-text-part-begin "p"))
    (forward-char 3)
    (hive-outreach-test-tell "outreach/received" (hive-outreach-test-item "card" :title "New card"))
    (hive-outreach-test-shown "New card\n")
    ;; Point stays where it was, in its item.
    (should (= (point) (+ 3 (hive-text-part-begin "p"))))
    (hive-outreach-test-tell "outreach/changed" (hive-outreach-test-item "ping" :outreach_id "p" :message "Ping!"
                                                                         :status "shown"))
    (hive-outreach-test-shown "shown\nPing!")
    (should (= 3 (length hive-outreach--items)))))

(ert-deftest hive-outreach-n-and-p-stay-on-an-item-and-say-where-there-is-no-other ()
  (hive-outreach-test (list (hive-outreach-test-item "ping" :outreach_id "new" :message "two\nlines" :reason "nobody_there")
                            (hive-outreach-test-item "ping" :outreach_id "old" :message "old"))
    (hive-outreach)
    (hive-outreach-test-shown "sent · nobody was there\ntwo")
    (goto-char (point-min))
    (hive-part-next)
    (should (= (point) (hive-text-part-begin "old")))
    (should-error (hive-part-next) :type 'user-error)
    (should (= (point) (hive-text-part-begin "old")))
    (forward-char 3)
    (hive-part-previous)
    (should (bobp))
    (should-error (hive-part-previous) :type 'user-error)))

(ert-deftest hive-outreach-point-is-on-no-button-of-another-card-when-its-own-is-gone ()
  (hive-outreach-test nil
    (cl-flet ((card (title) (hive-outreach-test-item "card" :title title :ask_id (hive-test-id "ask-")
                                                     :actions [(:label "Retry")])))
      (cl-letf (((symbol-function 'hive-model-prompt) #'hive-test-prompt)
                ((symbol-function 'hive-prompt-unanswered-p) #'always))
        (with-current-buffer (hive-outreach-buffer)
          (setq hive-outreach--items (list (card "one") (card "two")))
          (hive-outreach--print)
          (forward-button 1)
          (setq hive-outreach--items (cdr hive-outreach--items))
          (hive-outreach--print)
          (should (next-button (point)))
          (should-not (button-at (point))))))))

(ert-deftest hive-outreach-what-arrives-during-a-fetch-stays ()
  (hive-outreach-test nil
    (let ((reply nil))
      (cl-letf (((symbol-function 'hive-rpc-request)
                 (cl-function (lambda (_method _params &key success &allow-other-keys)
                                (setq reply success)))))
        (hive-outreach)
        (hive-rpc-handle 'outreach/received (hive-outreach-test-item "ping" :message "New"))
        (funcall reply (list :outreach (vector (hive-outreach-test-item "ping" :message "Old"))
                             :next_cursor nil))
        (should (equal '("New" "Old")
                       (mapcar (lambda (item) (plist-get item :message)) hive-outreach--items)))))))

(ert-deftest hive-outreach-after-a-fetch-that-failed-an-item-brings-those-before-it ()
  (hive-outreach-test nil
    (let ((items (list (hive-outreach-test-item "ping" :message "Old"))) (failed nil))
      (cl-letf (((symbol-function 'hive-rpc-request)
                 (cl-function (lambda (_method _params &key success error &allow-other-keys)
                                (if failed (funcall success (list :outreach (vconcat items) :next_cursor nil))
                                  (setq failed t)
                                  (funcall error '(:code -1 :name timeout :text "no reply")))))))
        (hive-outreach)
        (should (string-match-p "could not fetch" (buffer-string)))
        (push (hive-outreach-test-item "ping" :message "New") items)
        (hive-rpc-handle 'outreach/received (car items))
        (should (equal '("New" "Old")
                       (mapcar (lambda (item) (plist-get item :message)) hive-outreach--items)))))))

(ert-deftest hive-outreach-a-card-has-colour-fields-and-buttons-that-answer ()
  (hive-outreach-test (list (hive-outreach-test-item
                             "card" :title "Deploy %d" :color "red" :ask_id "p1" :description "one\ntwo"
                             :fields [(:name "Took" :value "3 s" :inline t) (:name "Failed" :value "2" :inline t)
                                      (:name "Log" :value "a\nb" :inline :json-false)]
                             :actions [(:label "Retry" :ask "Run it again") (:label "Leave" :ask nil)]))
    (hive-test-call 'fake/ask '(:ask_id "p1" :question "Deploy %d" :options [(:label "Retry") (:label "Leave")]))
    (hive-test-wait 5 (hive-prompts))
    (hive-outreach)
    (hive-outreach-test-shown " · red card · .*\nDeploy %d\n  one\n  two\n  Took: 3 s   Failed: 2\n  Log: a\n    b\n  \\[Retry\\]  Run it again\n  \\[Leave\\]")
    (goto-char (point-min))
    (search-forward "Deploy")
    (should (eq 'hive-card-red (get-text-property (1- (point)) 'face)))
    (forward-button 1)
    (push-button)
    (hive-test-wait 5 (= 1 (length (hive-test-answers))))
    (should (equal ["Retry"] (plist-get (car (hive-test-answers)) :selected)))
    ;; Once answered, it has no buttons; a button from before refuses.
    (hive-test-wait 5 (null (next-button (point-min) t)))
    (should-error (hive-outreach--answer "p1" "Leave") :type 'user-error)))

(ert-deftest hive-outreach-text-of-agents-is-inert ()
  (hive-outreach-test (list (hive-outreach-test-item
                             "card" :title (propertize "T\e[31m" 'display "X")
                             :description "d\u200B" :fields [(:name "n\u202E" :value "\\[kill-emacs] %s")]))
    (hive-outreach)
    (hive-outreach-test-shown "T\\^\\[\\[31m\n  d<U\\+200B>\n  n<U\\+202E>: \\\\\\[kill-emacs] %s")
    (should-not (text-property-not-all (point-min) (point-max) 'display nil))))

(ert-deftest hive-outreach-shows-one-kind-only ()
  (hive-outreach-test nil
    (hive-outreach)
    (hive-test-with-inputs (list "ping") (call-interactively #'hive-outreach-choose-kind))
    (hive-test-wait 5 (cl-find "ping" (hive-test-state) :test #'equal
                               :key (lambda (record)
                                      (plist-get (plist-get (plist-get record :called) :params) :kind))))
    (hive-outreach-test-shown "\\`No pings yet\\.\n\\'")
    (should (equal " ? keys   n next   p previous   k one kind   > older ones   g refresh   q quit"
                   (substring-no-properties (buffer-local-value 'header-line-format (get-buffer hive-outreach--name)))))
    (should-error (hive-outreach-older) :type 'user-error)))

(ert-deftest hive-notices-an-answer-that-was-not-accepted-is-shown-whole ()
  (hive-outreach-test nil
    (let ((hive-notify--list nil)
          (hive-sidecar-info '(:desk_id "desk-1"))
          (notice '(:notice "unread_answer" :severity "error" :sender_told t :from "desk-2"
                    :text "An answer to ask-1 could not be accepted." :at "2026-01-01T00:00:00.000Z"
                    :sent "{\"ask_id\":\"ask-1\",\"decison\":\"yes\"}")))
      (hive-notices)
      (hive-outreach-test-tell "desk/notice" notice)
      (hive-test-wait 5 said)
      (should (equal '("Hive: An answer to ask-1 could not be accepted.") said))
      (goto-char (point-min))
      (should (search-forward "An answer to ask-1"))
      (should (eq 'hive-critical (get-text-property (match-beginning 0) 'face)))
      (should (search-forward "Sent: {\"ask_id\":\"ask-1\",\"decison\":\"yes\"}\n")))))

(ert-deftest hive-notices-do-not-repeat-what-the-outbox-has-said ()
  (hive-outreach-test nil
    (let ((hive-notify--list nil)
          (hive-sidecar-info '(:desk_id "desk-1")))
      (hive-outreach-test-tell "desk/notice" '(:notice "unread_answer" :sender_told t :from "desk-1" :text "refused"))
      (hive-outreach-test-tell "desk/notice" '(:notice "unread_answer" :sender_told :json-false :from "desk-1" :text "lost"))
      (hive-test-wait 5 said)
      (should (equal '("Hive: lost") said))
      (should (= 2 (length hive-notify--list))))))

(ert-deftest hive-notices-are-shown-and-can-be-read-again ()
  (hive-outreach-test nil
    (let ((hive-notify--list nil) (hive-notify--kept 10))
      (hive-notices)
      (hive-outreach-test-tell "desk/notice" '(:text "The guard\ngave up %s" :at "2026-01-01T00:00:00.000Z"))
      (hive-test-wait 5 said)
      (should (equal '("Hive: The guard gave up %s") said))
      (should (string-match-p "ago  The guard\ngave up %s" (buffer-string)))
      (dotimes (n 15) (hive-rpc-handle 'desk/notice (list :text (format "n%d" n))))
      (should (= 10 (length hive-notify--list)))
      (should (equal "n14" (plist-get (car hive-notify--list) :text))))))

;;;; Ages

(ert-deftest hive-outreach-ages-of-cards-and-notices-follow-the-clock-while-they-are-in-a-window ()
  (hive-outreach-test (list (hive-outreach-test-item "card" :title "Built" :created_at (hive-text-before 300)))
    (let ((hive-notify--list (list (list :text "The guard gave up" :at (hive-text-before 300)))))
      (hive-outreach)
      (hive-outreach-test-shown "5m ago.*\nBuilt")
      (hive-notices)
      (search-forward "gave")
      (hive-test-run-timers 7200)
      (should (string-match-p "2h ago  The guard" (buffer-string)))
      (should (looking-at " up"))
      (with-current-buffer hive-outreach--name
        (delete-windows-on)
        (hive-test-run-timers 90000)
        ;; Nobody sees it.
        (should (string-match-p "2h ago.*\nBuilt" (buffer-string)))))))

(ert-deftest hive-notices-one-that-a-fetch-found-before-it-arrived-is-listed-once ()
  (hive-outreach-test nil
    (let ((hive-notify--list (list '(:notice_id 7 :text "Seven" :at "2026-01-01T00:00:00.000Z"))))
      (hive-outreach-test-tell "desk/notice" '(:notice_id 7 :text "Seven" :at "2026-01-01T00:00:00.000Z"))
      (hive-test-wait 5 said)
      (should (equal '("Hive: Seven") said))
      (should (= 1 (length hive-notify--list))))))

(ert-deftest hive-notices-one-that-arrives-leaves-point-on-its-button ()
  (hive-outreach-test nil
    (let* ((loop (lambda (first second) (list :titles (vector first second) :first_session_id first
                                              :second_session_id second)))
           (hive-loops (list (funcall loop "a" "b") (funcall loop "c" "d")))
           (hive-notify--list
            (list (list :notice "loop_tripped" :notice_id 2 :text "They loop." :at (hive-text-before 5)
                        :pairs [(:sessions ["a" "b"]) (:sessions ["c" "d"])])
                  (list :notice_id 1 :text "The first\nnotice" :at "2026-01-01T00:00:00.000Z"))))
      (hive-notices)
      (forward-button 5)
      (hive-rpc-handle 'desk/notice (list :notice_id 3 :text "The\nthird" :at (hive-text-now)))
      (should (equal "[mute this pair]" (button-label (button-at (point)))))
      (should (equal "  c and d:" (buffer-substring (line-beginning-position) (+ 10 (line-beginning-position)))))
      ;; The other pair is now where this one was.
      (goto-char (line-beginning-position 0))
      (forward-button 2)
      (setq hive-loops (cdr hive-loops))
      (hive-notify-refresh)
      (should (bobp))
      (search-forward "first\nnot")
      (set-window-start nil (point-min) t)
      (hive-rpc-handle 'desk/notice (list :notice_id 4 :text "Four" :at (hive-text-now)))
      (should (looking-at-p "ice\n"))
      (should (= (window-start) (point-min)))
      (set-window-start nil (line-beginning-position) t)
      (hive-rpc-handle 'desk/notice (list :notice_id 5 :text "Five" :at (hive-text-now)))
      (should (= (window-start) (line-beginning-position))))))
