;;; hive-mentions-test.el --- Mentions of you  -*- lexical-binding: t; -*-

;; Tags: guards-end

(require 'cl-lib)
(require 'ert)
(require 'hive-mentions)
(require 'hive-shared-test-help)

(defun hive-mentions-test-open (&optional session)
  "Make the buffer of the mentions of SESSION, or of the human, current."
  (hive-check-mentions-of session)
  (hive-test-wait 5 hive-mentions--summary))

(defun hive-mentions-test-text ()
  "Return the visible text of the current buffer."
  (buffer-substring-no-properties (point-min) (point-max)))

;;;; A handle that nobody has

(ert-deftest hive-mentions/what-arrives-during-the-newer-of-two-fetches-is-kept ()
  (let ((hive-mentions--open (make-hash-table :test #'equal)) (hive-notify-echo nil) (replies nil))
    (cl-letf (((symbol-function 'hive-rpc-request)
               (cl-function (lambda (_method _params &key success &allow-other-keys)
                              (setq replies (append replies (list success)))))))
      (hive-mentions-refresh)
      (hive-mentions-refresh))
    (funcall (car replies) '(:mentions []))
    (hive-rpc-handle 'mention/changed '(:message_id "m" :session_id "human" :seq 1 :status "unprocessed"))
    (funcall (cadr replies) '(:mentions []))
    (should (= 1 (hive-mentions-count)))))

(ert-deftest hive-mentions/of-a-misspelt-handle-are-refused-and-no-buffer-says-that-there-are-none ()
  (hive-shared-test-with
    (hive-test-hearing said
      (hive-check-mentions-of "Claude-abc21")
      (hive-test-wait 5 said)
      (should (string-search "There is no session \"Claude-abc21\"" (car said)))
      (should-not (get-buffer "*hive-mentions: Claude-abc21*")))))

;;;; Ages

(ert-deftest hive-mentions/their-ages-follow-the-clock-but-not-while-the-human-selects ()
  (hive-shared-test-with
    (hive-shared-test-post "@Human look")
    (save-window-excursion
      (hive-mentions-test-open)
      ;; The author is called as everywhere.
      (hive-test-wait 5 (string-match-p "^demo  [0-9]+s ago" (hive-mentions-test-text)))
      ;; The changes are fetched, and printed, whatever is selected.
      (dotimes (_ 2) (hive-test-pass 1))
      (search-forward "lo")
      (push-mark nil t t)
      (let ((transient-mark-mode t)) (hive-test-run-timers 300))
      (should-not (string-match-p "5m ago" (hive-mentions-test-text)))
      (deactivate-mark)
      ;; The timer that repeats is past the first 300 seconds.
      (hive-test-run-timers 600)
      (should (string-match-p "10m ago" (hive-mentions-test-text)))
      (should (looking-at "ok")))))

;;;; Attention

(ert-deftest hive-mentions/one-that-arrives-is-counted-and-announced ()
  (hive-shared-test-with
    (let ((windows (window-list)) (buffer (current-buffer)) (said nil))
      (cl-letf (((symbol-function 'message)
                 (lambda (format &rest args) (push (apply #'format format args) said))))
        (hive-shared-test-post "@Human 100%s?")
        (hive-test-wait 5 (cl-find-if (lambda (line)
                                        (string-match-p "demo mentions you: @Human 100%s" line))
                                      said)))
      (should (equal (substring-no-properties hive-mode-line-text) " hive 1@"))
      (should (equal windows (window-list)))
      (should (eq buffer (current-buffer))))))

(ert-deftest hive-mentions/the-announcement-shows-as-much-text-as-the-frame-has-room-for ()
  (hive-shared-test-with
    (let ((said nil))
      (cl-letf (((symbol-function 'frame-width) (lambda (&rest _) 80))
                ((symbol-function 'hive-notify-say)
                 (lambda (format &rest args) (push (apply #'format format args) said))))
        (hive-rpc-handle 'mention/changed
                         (list :mention_id "mention-1" :message_id "msg-1" :seq 1 :session_id "human"
                               :status "unprocessed" :from_handle "Claude-abc12"
                               :body (make-string 200 ?x)))
        (hive-test-wait 5 said)
        (should (equal 79 (string-width (car said))))))))

(ert-deftest hive-mentions/a-flood-is-announced-in-one-line ()
  (hive-shared-test-with
    (hive-test-hearing said
      (dotimes (n 200)
        (hive-rpc-handle 'mention/changed
                         (list :mention_id (format "mention-%d" n) :message_id (format "msg-%d" n)
                               :seq n :session_id "human" :status "unprocessed"
                               :from_handle "Claude-abc12" :body "@Human hey")))
      (hive-test-wait 5 said)
      (hive-test-pass 0.5)
      (should (equal 1 (length said)))
      (should (string-search "Claude-abc12 mentions you: @Human hey (and 199 more)" (car said)))
      ;; If the human wants no lines, there are none.
      (let ((hive-notify-echo nil))
        (hive-shared-test-post "@Human quietly")
        (hive-test-wait 5 (= 201 (hive-mentions-count)))
        (hive-test-pass 0.5)
        (should (= 1 (length said)))))))

(ert-deftest hive-mentions/those-pending-before-are-counted ()
  (hive-shared-test-with
    (hive-sidecar-stop)
    (hive-shared-test-post "@Human one")
    (hive-shared-test-post "@Human two")
    (hive-shared-test-post "no mention")
    (hive-sidecar-start)
    (hive-test-wait 10 (= 2 (hive-mentions-count)))
    (should (equal '("@Human one" "@Human two")
                   (mapcar (lambda (mention) (plist-get mention :body)) (hive-mentions-open))))
    (hive-mode -1)
    (should (= 0 (hive-mentions-count)))))

(ert-deftest hive-mentions/those-of-others-are-not-counted ()
  (hive-shared-test-with
    (hive-shared-test-post "@Claude-def34 hello")
    (hive-shared-test-post "@Human last")
    (hive-test-wait 5 (> (hive-mentions-count) 0))
    (should (= 1 (hive-mentions-count)))))

;;;; The buffer

(ert-deftest hive-mentions/are-shown-in-full-and-processed-one-by-one ()
  (hive-shared-test-with
    (hive-shared-test-post "@Human the older\n\nwith a second paragraph \e[1m")
    (hive-shared-test-post "@Human the newer" :priority "urgent" :expects_reply t)
    (hive-test-wait 5 (= 2 (hive-mentions-count)))
    (hive-mentions-test-open)
    (should (equal " Mentions of you: 2 in total, 0 done, 2 open   r reply   d done   ? keys"
                   (substring-no-properties (hive-mentions--header))))
    (should (string-search "with a second paragraph ^[[1m" (hive-mentions-test-text)))
    (should (string-search "(urgent, expects a reply" (hive-mentions-test-text)))
    ;; Reading is not processing.
    (should (= 2 (hive-mentions-count)))
    (goto-char (point-min))
    (hive-part-next)
    (should (string-search "the older" (plist-get (get-text-property (point) 'hive-mention) :body)))
    (hive-check-mentions-done "read it")
    (hive-test-wait 5 (not (string-search "the older" (hive-mentions-test-text))))
    (hive-test-wait 5 (= 1 (hive-mentions-count)))
    (should (string-search "2 in total, 1 done, 1 open" (hive-mentions--header)))
    (hive-check-mentions-toggle-history)
    (hive-test-wait 5 (string-search "done by Ada: read it" (hive-mentions-test-text)))))

(ert-deftest hive-mentions/are-processed-all-at-once ()
  (hive-shared-test-with
    (dotimes (n 5) (hive-shared-test-post (format "@Human %d" n)))
    (hive-test-wait 5 (= 5 (hive-mentions-count)))
    (hive-mentions-test-open)
    (cl-letf (((symbol-function 'y-or-n-p) (lambda (_) t)))
      (hive-check-mentions-all-done))
    (hive-test-wait 5 (= 0 (hive-mentions-count)))
    (hive-test-wait 5 (string-search "No open mentions" (hive-mentions-test-text)))
    (should (string-suffix-p " open" (hive-mentions--header)))
    (should-error (hive-check-mentions-all-done) :type 'user-error)
    (should-error (hive-check-mentions-done) :type 'user-error)))

(ert-deftest hive-mentions/of-any-session-can-be-processed ()
  (hive-shared-test-with
    (hive-shared-test-post "@Claude-def34 one")
    (hive-shared-test-post "@Claude-def34 two")
    (hive-mentions-test-open "Claude-def34")
    (should (string-search "Mentions of demo 2: 2 in total" (hive-mentions--header)))
    (should (string-search "tool calls denied" (hive-mentions--header)))
    (goto-char (point-min))
    (hive-check-mentions-done)
    (hive-test-wait 5 (string-search "1 done, 1 open" (hive-mentions--header)))
    (let ((statuses (mapcar (lambda (mention) (plist-get mention :status))
                            (hive-shared-test-do "mentions" :session "Claude-def34"))))
      (should (equal (sort statuses #'string<) '("processed" "unprocessed"))))))

(ert-deftest hive-mentions/that-are-closed-say-how ()
  (pcase-dolist (`(,status . ,sentence) '(("expired" . "This mention has expired")
                                          ("processed" . "Already marked done")))
    (with-temp-buffer
      (hive-check-mentions-mode)
      (let ((inhibit-read-only t))
        (insert (propertize "hello" 'hive-mention (list :mention_id "m-1" :status status))))
      (goto-char (point-min))
      (should (equal sentence (cadr (should-error (hive-check-mentions-done) :type 'user-error)))))))

(ert-deftest hive-mentions/one-that-arrives-leaves-point-on-its-mention ()
  (hive-shared-test-with
    (dotimes (n 3) (hive-shared-test-post (format "@Human %d" n)))
    (hive-test-wait 5 (= 3 (hive-mentions-count)))
    (hive-mentions-test-open)
    (goto-char (point-min))
    (hive-part-next)
    (let ((body (plist-get (get-text-property (point) 'hive-mention) :body)))
      (hive-shared-test-post "@Human another")
      (hive-test-wait 5 (string-search "@Human another" (hive-mentions-test-text)))
      (should (equal body (plist-get (get-text-property (point) 'hive-mention) :body))))))

(ert-deftest hive-mentions/one-that-arrives-leaves-point-and-mark-at-their-lines ()
  (cl-flet ((mention (id body) (list :mention_id id :from_handle "Claude-abc12" :body body
                                     :project "demo" :status "unprocessed" :at (hive-text-now))))
    (with-temp-buffer
      (hive-check-mentions-mode)
      (setq hive-mentions--mentions
            (list (mention "m-1" (mapconcat #'number-to-string (number-sequence 1 20) "th line\n"))))
      (hive-mentions--print)
      (search-forward "15th")
      (push-mark (save-excursion (search-forward "18th")) t t)
      (push (mention "m-2" "another\n15th line") hive-mentions--mentions)
      (hive-mentions--print)
      (should (looking-back "^15th" (line-beginning-position)))
      (goto-char (mark))
      (should (looking-back "^18th" (line-beginning-position)))
      (hive-part-previous)
      (should (bobp)))))

(ert-deftest hive-mentions/are-shown-page-by-page ()
  (hive-shared-test-with
    (let ((hive-mentions--page 10))
      (dotimes (n 25) (hive-shared-test-post (format "@Human number %d." n)))
      (hive-test-wait 5 (= 25 (hive-mentions-count)))
      (hive-mentions-test-open)
      (should (= 10 (length hive-mentions--mentions)))
      ;; A key that is pressed twice shows no page twice.
      (hive-check-mentions-more)
      (hive-check-mentions-more)
      (hive-test-wait 5 (= 20 (length hive-mentions--mentions)))
      (hive-check-mentions-more)
      (hive-test-wait 5 (= 25 (length hive-mentions--mentions)))
      (should-error (hive-check-mentions-more) :type 'user-error)
      (goto-char (point-min))
      (search-forward "number 0.")
      ;; One that arrives hides none of them.
      (hive-shared-test-post "@Human another")
      (hive-test-wait 5 (string-search "@Human another" (hive-mentions-test-text)))
      (should (= 26 (length hive-mentions--mentions)))
      (should (looking-back "number 0\\." (line-beginning-position))))))

(ert-deftest hive-mentions/an-answer-goes-to-the-shared-buffer ()
  (hive-shared-test-with
    (hive-shared-test-post "@Human which one?")
    (hive-test-wait 5 (= 1 (hive-mentions-count)))
    (hive-mentions-test-open)
    (goto-char (point-min))
    (let ((hive-shared-position 'current))
      (call-interactively #'hive-check-mentions-reply))
    (should (derived-mode-p 'hive-shared-mode))
    (hive-shared-test-ready)
    (insert "the second")
    (hive-shared-post)
    (hive-test-wait 10 (= 0 (hive-mentions-count)))
    (should (equal (car (last (hive-shared-test-stored)))
                   '("Human" nil "@Claude-abc12 the second")))))

(ert-deftest hive-mentions/a-reply-begins-with-its-mention-and-a-draft-is-kept ()
  (hive-shared-test-with
    (hive-shared-test-post "@Human which one?")
    (hive-test-wait 5 (= 1 (hive-mentions-count)))
    (hive-shared-test-open)
    (insert "half a plan")
    (hive-mentions-test-open)
    (goto-char (point-min))
    (let ((hive-shared-position 'current) (kill-ring nil))
      (call-interactively #'hive-check-mentions-reply)
      (should (equal "@Claude-abc12 " (hive-shared-draft)))
      (should (equal "half a plan" (car kill-ring)))
      ;; The same reply goes on.
      (insert "the second")
      (hive-mentions-test-open)
      (goto-char (point-min))
      (call-interactively #'hive-check-mentions-reply)
      (should (equal "@Claude-abc12 the second" (hive-shared-draft))))))

(ert-deftest hive-mentions/are-answered-with-a-template-from-here ()
  (hive-shared-test-with
    (let ((hive-reply-templates '(("mention" "demo" "I will look today.") ("question" nil "no")))
          (asked (hive-shared-test-post "@Human could you look?")))
      (hive-test-wait 5 (= 1 (hive-mentions-count)))
      (hive-mentions-test-open)
      (goto-char (point-min))
      (let ((offered (car (hive-test-with-inputs (list "I will look today.")
                            (hive-check-mentions-reply-with-template)))))
        (should (string-prefix-p "Reply to demo: " (car offered)))
        (should (equal '("I will look today.") (cdr offered))))
      (should (derived-mode-p 'hive-check-mentions-mode))
      (hive-test-wait 10 (= 0 (hive-mentions-count)))
      (should (equal (car (last (hive-shared-test-stored)))
                     '("Human" nil "@Claude-abc12 I will look today.")))
      (should (equal (plist-get asked :message_id)
                     (plist-get (car (last (hive-shared-test-do "messages"))) :reply_to))))))

(ert-deftest hive-mentions/three-templates-are-there-without-being-set-up ()
  (should (= 3 (length (hive-template-messages "demo")))))

(ert-deftest hive-mentions/ones-own-words-are-posted-without-any-template ()
  (hive-shared-test-with
    (let ((hive-reply-templates nil))
      (hive-shared-test-post "@Human look")
      (hive-test-wait 5 (= 1 (hive-mentions-count)))
      (hive-mentions-test-open)
      (goto-char (point-min))
      (hive-test-with-inputs (list "In an hour.")
        (hive-check-mentions-reply-with-template))
      (hive-test-wait 10 (= 0 (hive-mentions-count)))
      (should (equal (car (last (hive-shared-test-stored)))
                     '("Human" nil "@Claude-abc12 In an hour."))))))

(ert-deftest hive-mentions/an-empty-answer-posts-nothing ()
  (hive-shared-test-with
    (hive-shared-test-post "@Human look")
    (hive-test-wait 5 (= 1 (hive-mentions-count)))
    (hive-mentions-test-open)
    (goto-char (point-min))
    (let ((hive-reply-templates '((nil nil "x"))))
      (hive-test-with-inputs (list "")
        (should-error (hive-check-mentions-reply-with-template) :type 'user-error)))
    (should-not (hive-outbox-entries 'pending))
    (should (= 1 (length (hive-shared-test-stored))))))

(ert-deftest hive-mentions/say-so-without-a-sidecar ()
  (hive-test-with-desk nil
    (should-error (hive-check-mentions) :type 'user-error)))
